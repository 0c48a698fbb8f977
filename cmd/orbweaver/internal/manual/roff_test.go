package manual

import "testing"

// Text that looks like a request of roff stays text.
func TestRoff_readsNothingIntoText(t *testing.T) {
	var r roff
	r.macro("SH", `SAY "HI"`)
	r.text(".so /etc/passwd\n\n'quoted' \\n --flag")
	r.paragraphs("one\n\n  $ as --is\n\ntwo")
	want := `.SH "SAY \(dqHI\(dq"
\&.so /etc/passwd
\(aqquoted\(aq \en \-\-flag
one
.PP
.EX
  $ as \-\-is
.EE
.PP
two
`
	if got := r.String(); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}
