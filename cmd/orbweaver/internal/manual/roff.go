package manual

import (
	"fmt"
	"strings"
)

// roff writes the text of a man page.
type roff struct{ strings.Builder }

// macro writes a line with a request, whose arguments are text.
func (r *roff) macro(name string, arguments ...string) {
	r.WriteString("." + name)
	for _, a := range arguments {
		r.WriteString(` "` + strings.ReplaceAll(escape(a), `"`, `\(dq`) + `"`)
	}
	r.WriteByte('\n')
}

// text writes plain text, wrapped by the reader's program.
func (r *roff) text(s string) {
	for line := range strings.SplitSeq(s, "\n") {
		if line != "" {
			r.WriteString(guard(escape(line)) + "\n")
		}
	}
}

// formatted writes a line that has been escaped already.
func (r *roff) formatted(format string, arguments ...any) {
	r.WriteString(guard(fmt.Sprintf(format, arguments...)) + "\n")
}

// paragraphs writes text whose paragraphs are separated by empty lines. Lines that begin with spaces stay as they are.
func (r *roff) paragraphs(s string) {
	asIs, isNew := false, false
	for line := range strings.SplitSeq(s, "\n") {
		if line == "" {
			isNew = true
			continue
		}
		indented := strings.HasPrefix(line, "  ")
		if asIs && !indented {
			r.macro("EE")
		}
		if isNew {
			r.macro("PP")
		}
		if indented && !asIs {
			r.macro("EX")
		}
		asIs, isNew = indented, false
		r.WriteString(guard(escape(line)) + "\n")
	}
	if asIs {
		r.macro("EE")
	}
}

// item writes an entry of a list.
func (r *roff) item(name, description string) {
	r.macro("TP")
	r.formatted("%s", name)
	r.text(description)
}

// bold and italic mark text.
func bold(s string) string   { return `\fB` + escape(s) + `\fR` }
func italic(s string) string { return `\fI` + escape(s) + `\fR` }

// escape keeps roff from reading anything into text.
func escape(s string) string {
	return strings.NewReplacer(`\`, `\e`, `-`, `\-`, "`", `\(ga`, `'`, `\(aq`, `^`, `\(ha`, `~`, `\(ti`).Replace(s)
}

// guard keeps the first character of a line from being taken for a request.
func guard(line string) string {
	if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
		return `\&` + line
	}
	return line
}
