package invitro

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"orbweaver/bench/simweb"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// Captures reads an archive's responses and revisits, robots.txt left out, and hands each to f.
func Captures(fsys vfs.FS, dir string, f func(simweb.Capture)) error {
	return captures(fsys, dir, func(_ warc.Cut, _ *warc.RecordRead, c simweb.Capture) { f(c) })
}

// CrawledSince reads the captures of an archive from a place on: those of one pass. A page that the server called unchanged is one with
// status 200, and has the payload that it had.
func CrawledSince(fsys vfs.FS, dir string, from warc.Cut) (simweb.Crawled, error) {
	var list []simweb.Capture
	err := captures(fsys, dir, func(at warc.Cut, rec *warc.RecordRead, c simweb.Capture) {
		if at.Before(from) {
			return
		}
		if rec.Get("WARC-Profile") == warc.ProfileNotModified {
			c.Status = 200
		}
		list = append(list, c)
	})
	return slices.Values(list), err
}

func captures(fsys vfs.FS, dir string, f func(at warc.Cut, rec *warc.RecordRead, c simweb.Capture)) error {
	files, err := warc.Files(fsys, dir)
	if err != nil {
		return err
	}
	for _, info := range files {
		look := func(rec *warc.RecordRead, c simweb.Capture) {
			f(warc.Cut{Serial: info.Serial, Length: rec.Offset}, rec, c)
		}
		if err := fileCaptures(fsys, dir+"/"+info.Name, look); err != nil {
			return fmt.Errorf("%s: %w", info.Name, err)
		}
	}
	return nil
}

func fileCaptures(fsys vfs.FS, name string, f func(rec *warc.RecordRead, c simweb.Capture)) error {
	file, err := fsys.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // only read
	r := warc.NewReader(file, warc.ReaderOptions{Name: name, Syntax: warc.Fail, Spec: warc.Fail, Block: warc.Fail})
	defer r.Close()
	head := make([]byte, 64)
	for {
		rec, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if (rec.Type != warc.Response && rec.Type != warc.Revisit) || bytes.HasSuffix(rec.TargetURI, []byte("/robots.txt")) || rec.IsDNS() {
			continue
		}
		c := simweb.Capture{URL: string(rec.TargetURI), Truncated: rec.Type == warc.Response && rec.Get("WARC-Truncated") != ""}
		if sum, ok := decodeDigest(rec.Get("WARC-Payload-Digest")); ok {
			c.Digest, c.HasDigest = sum, true
		}
		n, err := io.ReadFull(rec, head)
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && err != io.EOF {
			return err
		}
		c.Status = statusOf(head[:n])
		f(rec, c)
	}
}

// statusOf reads the code of a status line.
func statusOf(head []byte) int {
	_, rest, ok := bytes.Cut(head, []byte{' '})
	if !ok || len(rest) < 3 {
		return 0
	}
	n, err := strconv.Atoi(string(rest[:3]))
	if err != nil {
		return 0
	}
	return n
}

// Crawled reads all captures of an archive. They are kept as they come: about 100 bytes each.
func Crawled(fsys vfs.FS, dir string) (simweb.Crawled, error) {
	var list []simweb.Capture
	if err := Captures(fsys, dir, func(c simweb.Capture) { list = append(list, c) }); err != nil {
		return nil, err
	}
	return slices.Values(list), nil
}
