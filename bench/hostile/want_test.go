package hostile

import (
	"bytes"
	"io"
	"strings"

	"orbweaver/internal/outcome"
	"orbweaver/internal/trial/captures"
	"orbweaver/warc"
)

// want is what becomes of a path.
type want struct {
	path    string
	outcome outcome.Outcome
	cut     string // WARC-Truncated; "" for not cut
	body    string // that is kept, chunks and all; of what has no head, all of it
}

// all checks what became of the paths of a host.
func (tr *trial) all(host string, list ...want) {
	tr.Helper()
	for _, w := range list {
		url := "http://" + host + w.path
		tr.wants(url, w.outcome)
		if got := string(bodyOf(tr.record(url, w.cut))); got != w.body {
			tr.Errorf("%s: kept is %.200q (%d bytes), want %.200q (%d)", url, got, len(got), w.body, len(w.body))
		}
	}
}

// bodyOf is what is behind the head in a record, chunks and all; the whole block where there is no head.
func bodyOf(rec *warc.RecordRead) []byte {
	if rec.Type == warc.Resource {
		return rec.Block
	}
	crlf, lf := bytes.Index(rec.Block, []byte("\r\n\r\n")), bytes.Index(rec.Block, []byte("\n\n"))
	if lf >= 0 && (crlf < 0 || lf < crlf) {
		return rec.Block[lf+2:]
	}
	return rec.Block[crlf+4:]
}

// requests gives the requests for URLs of a host, in order, robots.txt included.
func (tr *trial) requests(host string) (all []string) {
	tr.Helper()
	if err := captures.Records(tr.disk, "crawl/warc", func(rec *warc.RecordRead) error {
		if rec.Type != warc.Request || !strings.HasPrefix(string(rec.TargetURI), "http://"+host+"/") {
			return nil
		}
		b, err := io.ReadAll(rec)
		all = append(all, string(b))
		return err
	}); err != nil {
		tr.Fatal(err)
	}
	return all
}

// never says that a URL was not even tried.
func (tr *trial) never(urls ...string) {
	tr.Helper()
	for _, url := range urls {
		if n := len(tr.attempts(url)); n > 0 {
			tr.Errorf("%s was tried %d times", url, n)
		}
	}
}
