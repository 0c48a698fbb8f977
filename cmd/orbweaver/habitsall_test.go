package main

import (
	"path/filepath"
	"strings"
	"testing"

	"orbweaver/internal/cli/command"
)

// Each command reads the files of each habit beside a sound file: the status is 0, or 1 with the reason, and nothing of
// the sound file is lost.
func TestHabits_eachCommandReadsTheRest(t *testing.T) {
	row := ""
	for _, h := range habits() {
		if h.test != "" || h.row == row { // the first case of each row
			continue
		}
		row = h.row
		dir := t.TempDir()
		for name, text := range h.files {
			writeFile(t, filepath.Join(dir, name), text)
		}
		writeFile(t, filepath.Join(dir, "sound.warc.gz"),
			gzipMembers(foreignRecord("response", "http://sound.test/", foreignPage("sound words"))))
		for _, words := range []string{
			"warc ls .", "warc cat .", "warc index .", "warc walls .", "warc get . http://sound.test/", "feed .", "text .",
			"warc verify .", "quality .", "warc recompress . -o OUT.warc.gz", "warc repair . -o OUT/", "wacz . -o OUT.wacz",
			"derive --wat --corpus --parquet --minhash --graph --quiet --out OUT .",
		} {
			out := filepath.Join(t.TempDir(), "out")
			x := try{words: strings.ReplaceAll(words, "OUT", out)}
			r := x.call(t, dir)
			switch read := strings.HasSuffix(words, ".") && !strings.Contains(words, "verify") &&
				!strings.Contains(words, "quality") && !strings.Contains(words, "derive"); {
			case r.code != command.ExitDone && r.code != command.ExitFailed, r.code != command.ExitDone && r.err == "":
				t.Errorf("%s: %s: exit status %d: %s", h.row, words, r.code, r.err)
			case (read || strings.Contains(words, "get")) && !strings.Contains(r.out, "sound"):
				t.Errorf("%s: %s: lost what is sound: %.500s %.500s", h.row, words, r.out, r.err)
			case strings.HasPrefix(words, "wacz") && !strings.Contains(r.err, "out.wacz: "): // it wrote nothing
				if !strings.Contains(r.err, "warc recompress") && !strings.Contains(r.err, "cut.wacz") {
					t.Errorf("%s: %s: neither the file nor the remedy is named: %s", h.row, words, r.err)
				}
			case !read && strings.Contains(words, "OUT"):
				checkSound(t, h.row+": "+words, out, r)
			}
		}
	}
}

// checkSound checks that what a command wrote has the sound record.
func checkSound(t *testing.T, what, out string, r result) {
	t.Helper()
	made, err := filepath.Glob(out + "*")
	if err != nil || len(made) == 0 {
		t.Errorf("%s: it wrote nothing: %s", what, r.err)
		return
	}
	if strings.Contains(what, "derive") {
		return // its report has a line for each fault, and TestHabits_areReadAsStated reads the text
	}
	if listed := call(append([]string{"warc", "ls"}, made...)...); !strings.Contains(listed.out, "sound.test") {
		t.Errorf("%s: lost what is sound: %s %s", what, listed.out, r.err)
	}
}
