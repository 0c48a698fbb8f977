package objectstore

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// answerMost is the longest answer of a store that is not an object, in bytes. A list of 1,000 parts has half a MiB.
const answerMost = 4 << 20

// errAnswerLong says that an answer does not end.
var errAnswerLong = fmt.Errorf("the answer of the store is longer than %d MiB", answerMost>>20)

// NotStoreError says that what answers is no object store: a log-in page, a gateway or a web server.
type NotStoreError struct {
	Status int
	Type   string // its Content-Type
}

func (e *NotStoreError) Error() string {
	return fmt.Sprintf("what answers is no object store (status %d, type %.60q): "+
		"see --upload-endpoint, a proxy, or a log-in page", e.Status, e.Type)
}

// checkedTransport lets answers through that an object store can have given, and no more of each than answerMost. The
// bytes of objects are read by callers that know their lengths.
type checkedTransport struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (c checkedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := c.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	isObject := r.Method == http.MethodGet && r.URL.RawQuery == "" && resp.StatusCode < http.StatusMultipleChoices
	if !isObject {
		resp.Body = &limitedBody{ReadCloser: resp.Body, rest: answerMost}
	}
	if isOfStore(r, resp) {
		return resp, nil
	}
	fault := &NotStoreError{Status: resp.StatusCode, Type: resp.Header.Get("Content-Type")}
	return nil, errors.Join(fault, resp.Body.Close())
}

// isOfStore reports whether an object store can have given an answer. A page is no object without an ETag. Other
// answers are XML with a root of S3; those to PUT and errors may be empty. A server before the store may say that the
// store does not work now.
func isOfStore(r *http.Request, resp *http.Response) bool {
	query := r.URL.Query()
	isAction := r.Method == http.MethodPost || r.Method == http.MethodGet && len(query) > 0
	switch status := resp.StatusCode; {
	case status >= 500 || status == http.StatusTooManyRequests || status == http.StatusRequestTimeout:
		return true
	case status == http.StatusFound || status == http.StatusSeeOther:
		return false
	case status >= 300:
		root, ok := rootOf(resp)
		return r.Method == http.MethodHead || !ok || root == "Error"
	case isAction:
		root, _ := rootOf(resp)
		return strings.HasSuffix(root, "Result") || root == "LocationConstraint" || root == "Error"
	case r.Method == http.MethodPut:
		_, ok := rootOf(resp)
		return !ok || resp.Header.Get("ETag") != ""
	}
	return resp.Header.Get("ETag") != "" || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html")
}

// rootOf reads the name of the first element of an answer, which can be read again. It reports false for an empty one.
func rootOf(resp *http.Response) (root string, ok bool) {
	var read bytes.Buffer
	tokens := xml.NewDecoder(io.TeeReader(resp.Body, &read))
	for {
		token, err := tokens.Token()
		if start, is := token.(xml.StartElement); is {
			root = start.Name.Local
		}
		if err != nil || root != "" {
			break
		}
	}
	ok = len(bytes.TrimSpace(read.Bytes())) > 0
	resp.Body = &rereadBody{Reader: io.MultiReader(&read, resp.Body), Closer: resp.Body}
	return root, ok
}

// rereadBody is a body whose beginning was read.
type rereadBody struct {
	io.Reader
	io.Closer
}

// limitedBody ends with an error when rest bytes have come.
type limitedBody struct {
	io.ReadCloser

	rest int64
}

func (l *limitedBody) Read(b []byte) (int, error) {
	if l.rest <= 0 {
		return 0, errAnswerLong
	}
	n, err := l.ReadCloser.Read(b[:min(int64(len(b)), l.rest)])
	l.rest -= int64(n)
	return n, err
}
