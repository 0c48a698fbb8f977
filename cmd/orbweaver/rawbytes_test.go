package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// escapes are what a terminal takes for orders, in names and values of others.
const escapes = "e\x1b[31m\x07\x9b2J\u009b1m\x7f"

// No command prints control characters of an archive of another person to a terminal, except the records that cat and
// get print as they are.
func TestBadInputs_printNoControlCharacters(t *testing.T) {
	dir := t.TempDir()
	page := foreignPage("words", "X-"+escapes+": "+escapes, "Content-Type: text/html; "+escapes)
	first := foreignRecord("response", "http://a.test/"+escapes, page, "WARC-Date: "+escapes,
		"WARC-Payload-Digest: "+escapes, "WARC-Truncated: "+escapes, escapes+": "+escapes)
	second := foreignRecord(escapes, "http://a.test/2", page, "WARC-Record-ID: "+escapes, "WARC-Concurrent-To: "+escapes,
		"WARC-Block-Digest: sha1:"+escapes, "Content-Type: "+escapes)
	third := foreignRecord("response", "http://a.test/3", page, "Content-Length: "+escapes)
	fourth := foreignRecord("revisit", escapes+"://a.test/4", page, "WARC-Refers-To-Target-URI: "+escapes,
		"WARC-Refers-To-Date: "+escapes, "WARC-Profile: "+escapes)
	version := strings.Replace(first, "WARC/1.0", "WARC/"+escapes, 1)
	writeFile(t, filepath.Join(dir, "name"+escapes+".warc.gz"),
		gzipMembers(first, second, third, fourth, version)+escapes)
	writeFile(t, filepath.Join(dir, "a.warc"), first+second+escapes+"\r\n"+third+fourth+version)
	writeFile(t, filepath.Join(dir, "b.warc"), foreignRecord("response", "http://b.test/", page))
	writeFile(t, filepath.Join(dir, "b.cdxj"), escapes+"\n{"+escapes+"}\ntest,b)/ 2020 {\"url\":\""+escapes+
		"\",\"offset\":"+escapes+"}\n"+strings.Repeat(escapes, 40_000)+"\n")
	writeFile(t, filepath.Join(dir, "lost"+escapes+".warc.lz4"), escapes)
	writeFile(t, filepath.Join(dir, "text"+escapes+".warc"), escapes)
	writeFile(t, filepath.Join(dir, "p"+escapes+".wacz"), foreignWACZ(map[string]string{
		"archive/c" + escapes + ".warc.gz": gzipMembers(first, second), "archive/" + escapes: escapes,
		"indexes/index.cdxj": escapes + "\n", "pages/pages.jsonl": escapes + "\n{\"url\":\"" + escapes + "\"}\n",
	}, "indexes/index.cdxj"))
	if err := os.Symlink("no"+escapes, filepath.Join(dir, "gone"+escapes+".warc.gz")); err != nil {
		t.Skip(err)
	}
	isControl := func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' || r == utf8.RuneError }
	for _, words := range []string{
		"warc ls .", "warc --json ls .", "warc index .", "warc walls .", "warc --json walls .", "feed .", "quality .",
		"warc get . http://a.test/none", "warc get --dir . http://a.test/none", "warc get . http://b.test/none",
		"derive --wet --quiet --out OUT .", "derive --wat --corpus --parquet --minhash --graph --quiet --out OUT .",
		"warc verify .", "warc --json verify .", "warc verify --against-manifest a.warc", "manifest .", "report .", "fsck .",
		"warc recompress . -o OUT.warc.gz", "warc repair . -o OUT/", "warc recompress . -o OUT/", "wacz . -o OUT.wacz",
		"warc index --cluster OUT .", "warc index --write .", "audit politeness .", "upload .",
	} {
		x := try{words: strings.ReplaceAll(words, "OUT", filepath.Join(t.TempDir(), "out"))}
		r := x.call(t, dir)
		if strings.Contains(words, "json") || strings.HasPrefix(words, "feed") || words == "warc index ." { // JSON
			r.out = strings.NewReplacer("\x7f", "", "\u009b", "", "\ufffd", "").Replace(strings.ToValidUTF8(r.out, ""))
		}
		out := r.out + r.err
		if at := strings.IndexFunc(out, isControl); at >= 0 {
			t.Errorf("%s prints %q", words, out[max(0, at-150):min(len(out), at+50)])
		}
	}
}
