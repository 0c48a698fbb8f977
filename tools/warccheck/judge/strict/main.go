// Command strict reads WARC files with nlnwa/gowarc, and prints what violates the standard: syntax, fields, digests,
// ends of records, unknown types.
//
//	strict FILE...
//
// If FILE has an index beside it, each line of it must name a record: its offset, its length and its URL.
//
// Exit status: 0 no finding, 1 findings, 2 a file or an index cannot be read.
package main

import (
	"bufio"
	"crypto/sha1"
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http/httputil"
	"os"
	"strconv"
	"strings"

	"github.com/nlnwa/gowarc/v3"
)

// findingsMost is how many findings of a file are printed.
const findingsMost = 50

// place is where a record lies in its file, in bytes.
type place struct{ offset, length int64 }

func main() {
	findings := 0
	for _, name := range os.Args[1:] {
		n, err := judge(name)
		if err != nil {
			fmt.Fprintf(os.Stderr, "strict: %s: %v\n", name, err)
			os.Exit(2)
		}
		findings += n
	}
	if findings > 0 {
		os.Exit(1)
	}
}

// judge reads all records of a file, and returns the number of findings.
func judge(name string) (findings int, err error) {
	finding := func(at int64, what any) {
		if findings++; findings <= findingsMost {
			fmt.Printf("%s: at %d: %v\n", name, at, what)
		}
	}
	index, err := readIndex(name)
	if err != nil {
		return 0, err
	}
	file, err := os.Open(name)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	// Every finding is collected. WithStrictValidation ends at the first one.
	in, err := gowarc.NewWarcFileReaderFromStream(file, 0, gowarc.WithSyntaxErrorPolicy(gowarc.ErrWarn),
		gowarc.WithSpecViolationPolicy(gowarc.ErrWarn), gowarc.WithUnknownRecordTypePolicy(gowarc.ErrWarn))
	if err != nil {
		return 0, err
	}
	records, lines := 0, len(index)
	for r, err := range in.Records() {
		if err != nil {
			finding(r.Offset, err)
			break
		}
		records++
		for _, v := range r.Validation {
			if !isChunkedDigest(r.WarcRecord, v) {
				finding(r.Offset, fmt.Sprintf("%s %s: %v", r.WarcRecord.Type(), r.WarcRecord.RecordId(), v))
			}
		}
		at := place{r.Offset, r.Size}
		if url, isListed := index[at]; isListed && url != r.WarcRecord.WarcHeader().Get(gowarc.WarcTargetURI) {
			finding(r.Offset, "the index has another URL here: "+url)
		}
		delete(index, at)
		if err := r.Close(); err != nil {
			return findings, err
		}
	}
	for at, url := range index {
		finding(at.offset, fmt.Sprintf("the index has a record of %d bytes here: %s", at.length, url))
	}
	if records == 0 {
		finding(0, "no record")
	}
	fmt.Printf("strict: %s: %d records, %d lines of the index, %d findings\n", name, records, lines, findings)
	return findings, nil
}

// isChunkedDigest reports whether a finding is that the payload digest is not one of a chunked body with its chunks.
// gowarc computes that. The standard's payload is what the chunks contain, which is compared here.
func isChunkedDigest(r gowarc.WarcRecord, finding error) bool {
	var digest *gowarc.DigestError
	block, isHTTP := r.Block().(gowarc.HttpResponseBlock)
	said := r.WarcHeader().Get(gowarc.WarcPayloadDigest)
	if !errors.As(finding, &digest) || said != digest.Algorithm+":"+digest.Expected || !isHTTP {
		return false
	}
	head := strings.ToLower(string(block.ProtocolHeaderBytes()))
	if !strings.Contains(head, "\ntransfer-encoding: chunked\r\n") {
		return false
	}
	body, err := block.PayloadBytes()
	if err != nil {
		return false
	}
	sum := sha1.New()
	if _, err := io.Copy(sum, httputil.NewChunkedReader(body)); err != nil {
		return false
	}
	return said == "sha1:"+base32.StdEncoding.EncodeToString(sum.Sum(nil))
}

// readIndex returns the URLs of the index beside a WARC file by their places; none without an index.
func readIndex(name string) (map[place]string, error) {
	beside := strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".warc") + ".cdxj"
	file, err := os.Open(beside)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	index := map[place]string{}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var said struct{ URL, Offset, Length string }
		_, fields, _ := strings.Cut(lines.Text(), "{")
		if err := json.Unmarshal([]byte("{"+fields), &said); err != nil {
			return nil, fmt.Errorf("%s: %w", beside, err)
		}
		offset, errOffset := strconv.ParseInt(said.Offset, 10, 64)
		length, errLength := strconv.ParseInt(said.Length, 10, 64)
		if err := errors.Join(errOffset, errLength); err != nil {
			return nil, fmt.Errorf("%s: %w", beside, err)
		}
		index[place{offset, length}] = said.URL
	}
	return index, lines.Err()
}
