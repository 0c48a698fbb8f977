package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orbweaver/internal/cli/command"
)

// Each command reads the files of each habit beside a sound file: the status is 0, or 1 with the reason, and nothing of
// the sound file is lost. Each row is read by every third command, and each command reads every third row.
func TestHabits_eachCommandReadsTheRest(t *testing.T) {
	row, turn := "", 0
	for _, h := range habits() {
		if h.test != "" || h.row == row { // the first case of each row
			continue
		}
		row, turn = h.row, turn+1
		dir := t.TempDir()
		for name, text := range h.files {
			writeFile(t, filepath.Join(dir, name), text)
		}
		readTheRest(t, h.row, dir, turn, []int{command.ExitDone, command.ExitFailed})
	}
}

// Files that cannot be opened, and files that are no archives, cost none of the others, and the exit status is 1.
func TestBadInputs_eachCommandReadsTheRest(t *testing.T) {
	dir := t.TempDir()
	wacz := foreignWACZ(map[string]string{"archive/a.warc.gz": "no record"}, "")
	writeFile(t, filepath.Join(dir, "cut.wacz"), wacz[:200])
	writeFile(t, filepath.Join(dir, "text.warc"), "no record")
	if err := os.Mkdir(filepath.Join(dir, "dir.warc.gz"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", filepath.Join(dir, "gone.warc.gz")); err != nil {
		t.Skip(err)
	}
	for turn := range readers {
		readTheRest(t, "bad inputs", dir, turn, []int{command.ExitFailed})
	}
}

// readers is the number of turns in which readTheRest comes to all commands.
const readers = 3

// readTheRest runs the commands of a turn on a directory, to which it adds a sound file. The exit status is one of
// codes; "get" may have any, since it finds its page.
func readTheRest(t *testing.T, what, dir string, turn int, codes []int) {
	t.Helper()
	writeFile(t, filepath.Join(dir, "sound.warc.gz"),
		gzipMembers(foreignRecord("response", "http://sound.test/", foreignPage("sound words"))))
	for n, words := range []string{
		"warc ls .", "warc cat .", "warc index .", "warc walls .", "warc get . http://sound.test/", "feed .", "text .",
		"warc verify .", "quality .", "manifest .", "warc recompress . -o OUT.warc.gz", "warc repair . -o OUT/",
		"warc recompress . -o OUT/", "wacz . -o OUT.wacz", "wacz --split 1MB . -o OUT.wacz",
		"derive --wat --corpus --parquet --minhash --graph --quiet --out OUT .", "warc index --cluster OUT .",
		"warc index --write .",
	} {
		if (n+turn)%readers > 0 {
			continue
		}
		out := filepath.Join(t.TempDir(), "out")
		x := try{words: strings.ReplaceAll(words, "OUT", out)}
		r := x.call(t, dir)
		isGet := strings.Contains(words, "get")
		isRight := isGet && r.code == command.ExitDone
		for _, code := range codes {
			isRight = isRight || r.code == code
		}
		switch {
		case !isRight, r.code != command.ExitDone && r.err == "":
			t.Errorf("%s: %s: exit status %d: %s", what, words, r.code, r.err)
		case strings.Contains(words, "OUT"):
			checkSound(t, what+": "+words, out, r)
		case strings.Contains(words, "--write"):
			if text, _ := os.ReadFile(filepath.Join(dir, "sound.cdxj")); !strings.Contains(string(text), "sound.test") {
				t.Errorf("%s: %s: lost what is sound: %q %s", what, words, text, r.err)
			}
		case !strings.Contains(words, "verify") && !strings.Contains(words, "quality") && !strings.Contains(r.out, "sound"):
			t.Errorf("%s: %s: lost what is sound: %.500s %.500s", what, words, r.out, r.err)
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
	switch {
	case strings.Contains(what, "derive"):
		return // the report of derive has a line for each fault, and TestHabits_areReadAsStated reads the text
	case strings.Contains(what, "--cluster"):
		if text, _ := os.ReadFile(filepath.Join(out, "cluster.idx")); len(text) == 0 {
			t.Errorf("%s: the cluster has no line: %s", what, r.err)
		}
		return
	case strings.Contains(what, "--split"):
		made = []string{out + "-0001.wacz"}
	}
	if listed := call(append([]string{"warc", "ls"}, made...)...); !strings.Contains(listed.out, "sound.test") {
		t.Errorf("%s: lost what is sound: %s %s", what, listed.out, r.err)
	}
}
