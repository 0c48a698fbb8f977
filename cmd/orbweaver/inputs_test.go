package main

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orbweaver/internal/cli/command"
)

// The archives of this test have two pages, http://a.test/1 and http://a.test/2.
const inputPages = 2

func inputBlock(n int) string {
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<title>%d</title><p>Words of page %d.", n, n)
}

// warcOf returns the records of a WARC file of a version.
func warcOf(version string) (records []string) {
	for n := 1; n <= inputPages; n++ {
		block := inputBlock(n)
		records = append(records, fmt.Sprintf("WARC/%s\r\nWARC-Type: response\r\nWARC-Record-ID: "+
			"<urn:uuid:00000000-0000-4000-8000-%012d>\r\nWARC-Date: 2020-01-02T03:04:05Z\r\nWARC-Target-URI: http://a.test/%d"+
			"\r\nContent-Type: application/http; msgtype=response\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n",
			version, n, n, len(block), block))
	}
	return records
}

// arcOf returns the records of an ARC file of version 1 or 2.
func arcOf(version int) []string {
	words, first := "", "1 0 Test\nURL IP-address Archive-date Content-type Archive-length\n"
	if version == 2 {
		words = "200 - - 0 a.arc "
		first = "2 0 Test\nURL IP-address Archive-date Content-type Result-code Checksum Location Offset Filename " +
			"Archive-length\n"
	}
	records := []string{fmt.Sprintf("filedesc://a.arc 0.0.0.0 20200102030405 text/plain %s%d\n%s\n",
		words, len(first), first)}
	for n := 1; n <= inputPages; n++ {
		block := inputBlock(n)
		records = append(records, fmt.Sprintf("http://a.test/%d 192.0.2.1 20200102030405 text/html %s%d\n%s\n",
			n, words, len(block), block))
	}
	return records
}

// gzipMembers packs each text as a member.
func gzipMembers(texts ...string) string {
	var b bytes.Buffer
	for _, text := range texts {
		z := gzip.NewWriter(&b)
		_, _ = io.WriteString(z, text) // a Buffer does not fail
		_ = z.Close()
	}
	return b.String()
}

// zipOf stores files, as names and texts by turns.
func zipOf(files ...string) string {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		w, _ := z.CreateHeader(&zip.FileHeader{Name: files[i], Method: zip.Store}) // a Buffer does not fail
		_, _ = io.WriteString(w, files[i+1])
	}
	_ = z.Close()
	return b.String()
}

// inputs writes an archive in each form, and returns their names.
func inputs(t *testing.T, dir string) []string {
	t.Helper()
	v1 := warcOf("1.0")
	one, two := gzipMembers(v1[0]), gzipMembers(v1[1])
	files := map[string]string{
		"0.17.warc": strings.Join(warcOf("0.17"), ""), "0.18.warc": strings.Join(warcOf("0.18"), ""),
		"1.0.warc": strings.Join(v1, ""), "1.1.warc.gz": gzipMembers(warcOf("1.1")...), "other-name": gzipMembers(v1...),
		"whole.warc.gz": gzipMembers(strings.Join(v1, "")),
		"1.arc":         strings.Join(arcOf(1), ""), "2.arc.gz": gzipMembers(arcOf(2)...),
		"site.wacz": zipOf("archive/a.warc.gz", one+two), "site.zip": zipOf("archive/a.warc.gz", one+two),
		"nested.wacz": zipOf("one.wacz", zipOf("archive/data.warc.gz", one),
			"two.wacz", zipOf("archive/data.warc.gz", two)),
		"split/1.wacz":     zipOf("archive/data.warc.gz", one),
		"split/2.wacz":     zipOf("archive/data.warc.gz", two),
		"split/all.json":   `{"profile":"multi-wacz-package","resources":[{"path":"1.wacz"},{"path":"2.wacz"}]}`,
		"mixed/a.warc.gz":  one,
		"mixed/b.wacz":     zipOf("archive/data.warc.gz", two),
		"mixed/c.warc.lz4": "\x04\x22\x4d\x18", "mixed/a.warc.gz.md5": "00",
		"browsertrix/archive/a.warc.gz": one + two, "browsertrix/pages/pages.jsonl": "{}",
	}
	for name, text := range files {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		writeFile(t, name, text)
	}
	call("warc", "recompress", filepath.Join(dir, "1.0.warc"), "-o", filepath.Join(dir, "1.0.warc.zst")).
		want(t, command.ExitDone)
	return []string{
		"0.17.warc", "0.18.warc", "1.0.warc", "1.1.warc.gz", "1.0.warc.zst", "other-name", "whole.warc.gz", "1.arc",
		"2.arc.gz", "site.wacz", "site.zip", "nested.wacz", "split/all.json", "split", "mixed", "browsertrix",
	}
}

// Every command reads every form of an archive, or refuses it with the remedy.
func TestEveryCommandReadsEveryInput(t *testing.T) {
	dir := t.TempDir()
	cannotPack := map[string]bool{
		"1.arc": true, "2.arc.gz": true, "1.0.warc.zst": true, "other-name": true, "nested.wacz": true,
		"split": true, "split/all.json": true,
	}
	isPackage := map[string]bool{"site.wacz": true, "site.zip": true, "nested.wacz": true, "split/all.json": true}
	for _, input := range inputs(t, dir) {
		name := filepath.Join(dir, input)
		out := filepath.Join(dir, "out-"+strings.NewReplacer("/", "-", ".", "-").Replace(input))
		isOneMember := input == "whole.warc.gz"
		for _, c := range []struct {
			words, says string
			count       int
			remedy      string // of a command that refuses
		}{
			{words: "warc ls " + name, says: "http://a.test/", count: inputPages},
			{words: "warc cat --payload " + name, says: "Words of page", count: inputPages},
			{words: "warc get " + name + " http://a.test/2", says: "Words of page 2.", count: 1},
			{words: "warc get --dir " + name + " http://a.test/2", says: "Words of page 2.", count: 1},
			{words: "warc index " + name, says: `"url":"http://a.test/`, count: inputPages, remedy: "warc recompress"},
			{words: "feed " + name, says: `"kind":"new"`, count: inputPages},
			{words: "derive --corpus --quiet --out " + out + " " + name, says: " 0 faults", count: 1},
			{words: "warc recompress -o " + out + "/new/ " + name, says: "record"},
			{words: "wacz -o " + out + ".wacz " + name, says: "", remedy: "warc recompress"},
			// The WACZ files of this test are no valid ones.
			{words: "warc verify " + name, says: " records", remedy: "datapackage.json is missing"},
		} {
			r := call(strings.Fields(c.words)...)
			isVerify, isPack := strings.HasPrefix(c.words, "warc verify"), strings.HasPrefix(c.words, "wacz")
			mayRefuse := isOneMember || isVerify && isPackage[input] || isPack && cannotPack[input]
			isRefused := r.code != command.ExitDone && (strings.Contains(r.err, c.remedy) && c.remedy != "" ||
				isOneMember && isVerify)
			isRead := r.code == command.ExitDone && (c.count == 0 || strings.Count(r.out, c.says) == c.count)
			if !isRead && !(mayRefuse && isRefused) {
				t.Errorf("%s: exit status %d; stdout:\n%s\nstderr:\n%s",
					strings.ReplaceAll(c.words, dir, ""), r.code, r.out, r.err)
			}
		}
	}
}

// What looks like an archive and is not read is named, also in a directory of other files. A damaged WACZ is one.
func TestWhatIsNotReadIsNamed(t *testing.T) {
	dir := t.TempDir()
	inputs(t, dir)
	mixed := filepath.Join(dir, "mixed")
	writeFile(t, filepath.Join(mixed, "bad.wacz"), "no ZIP file")
	for _, words := range []string{
		"warc ls ", "warc get --dir ", "feed ", "wacz -o " + filepath.Join(dir, "x.wacz") + " ",
		"derive --wet --quiet --out " + filepath.Join(dir, "out") + " ",
	} {
		args := strings.Fields(words + mixed)
		if strings.Contains(words, "get") {
			args = append(args, "http://a.test/1")
		}
		r := call(args...).want(t, command.ExitDone, "2 files", "c.warc.lz4", "bad.wacz")
		if strings.Contains(r.err, "md5") {
			t.Errorf("%s: %s", words, r.err)
		}
	}
	call("warc", "get", "-", "http://a.test/1").want(t, command.ExitUsage, "recompress -")
	call("feed", "-").want(t, command.ExitUsage, "recompress -")
	call("view", "-").want(t, command.ExitUsage, "recompress -")
	call("derive", "--wet", "--out", dir, "-").want(t, command.ExitUsage, "recompress -")
}

// The index of a WACZ is written beside it, for all files in it. --dedup-from takes that, and says so of a WACZ.
func TestIndexOfAWACZIsWrittenBesideIt(t *testing.T) {
	dir := t.TempDir()
	inputs(t, dir)
	for _, name := range []string{"site.wacz", "nested.wacz"} {
		call("warc", "index", "--write", filepath.Join(dir, name)).want(t, command.ExitDone)
		text, err := os.ReadFile(filepath.Join(dir, name+".cdxj"))
		if lines := strings.Split(string(text), "\n"); err != nil || len(lines) != 3 || lines[0] >= lines[1] {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
	crawl := func(from string) result {
		return call("crawl", "--dedup-from", filepath.Join(dir, from), "--dir", filepath.Join(dir, "crawl"), "--contact",
			"mail@a.test", "--tries", "1", "http://127.0.0.1:1/")
	}
	crawl("split/1.wacz").want(t, command.ExitUsage, "no CDXJ index", "warc index --write")
	crawl("site.wacz").want(t, command.ExitFailed, "payloads=0") // nothing answers at this address
}

// A file that cannot be opened is named, and the others are read.
func TestOneMissingFileDoesNotHideTheOthers(t *testing.T) {
	dir := t.TempDir()
	inputs(t, dir)
	files := filepath.Join(dir, "none.warc") + " " + filepath.Join(dir, "1.0.warc")
	for words, says := range map[string]string{
		"warc ls ": "http://a.test/2", "warc cat --payload ": "Words of page 2", "warc index ": `"url":"http://a.test/2"`,
		"warc verify ": "2 records", "warc recompress -o " + filepath.Join(dir, "new.warc.gz") + " ": "",
	} {
		r := call(strings.Fields(words+files)...).want(t, command.ExitFailed, "none.warc")
		if !strings.Contains(r.out, says) {
			t.Errorf("%s: %s", words, r.out)
		}
	}
}
