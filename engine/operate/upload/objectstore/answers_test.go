package objectstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"orbweaver/engine/operate/upload"
)

// kindOf is the kind of a request to a store: the uploads in parts have five.
func kindOf(r *http.Request) string {
	query := r.URL.Query()
	switch {
	case r.Method == http.MethodPost && query.Has("uploads"):
		return "begin"
	case r.Method == http.MethodPost:
		return "complete"
	case r.Method == http.MethodGet && query.Has("uploadId"):
		return "list"
	case query.Has("partNumber"):
		return "part"
	}
	return strings.ToLower(r.Method)
}

// A log-in page, or a redirect to one, is never taken for a success, for a missing object or for the end of an upload,
// whatever was asked. Once it is gone the file arrives.
func TestSend_UL3_aLogInPageIsNoObjectStore(t *testing.T) {
	pages := map[string]func(http.ResponseWriter){
		"page": func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = io.WriteString(w, "<!DOCTYPE html><html><head><title>Log in</title></head><body>Log in</body></html>")
		},
		"redirect": func(w http.ResponseWriter) {
			w.Header().Set("Location", "http://portal.test/")
			w.WriteHeader(http.StatusFound)
		},
		"forbidden by a proxy": func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, "<html><body>Your quota is used up</body></html>")
		},
	}
	for name, page := range pages {
		for _, kind := range []string{"head", "begin", "part", "complete", "put"} {
			if name == "forbidden by a proxy" && kind == "head" {
				continue // the answer to HEAD has no body: the file is sent, and the answer to that tells
			}
			t.Run(name+" for "+kind, func(t *testing.T) {
				b := newBucket(t)
				length := 150 << 10
				if kind == "put" {
					length = 1000
				}
				f := b.file(length)
				b.fail(func(w http.ResponseWriter, r *http.Request) bool {
					is := kindOf(r) == kind && strings.HasSuffix(r.URL.Path, ".gz")
					if is {
						_, _ = io.Copy(io.Discard, r.Body)
						page(w)
					}
					return is
				})
				got, err := b.store().Send(t.Context(), f)
				refusal, ok := errors.AsType[*upload.RefusedError](err)
				if !ok || !refusal.All || refusal.Reason != "no object store answers" {
					t.Errorf("%+v, %v", got, err)
				}
				b.fail(nil)
				if _, err := b.store().Send(t.Context(), f); err != nil {
					t.Errorf("when the page is gone: %v", err)
				}
			})
		}
	}
}

// endless answers without end, and counts the bytes that were taken.
func endless(w http.ResponseWriter, start string, sent *atomic.Int64) {
	w.Header().Set("Content-Type", "application/xml")
	w.Header().Set("ETag", `"x"`)
	_, err := io.WriteString(w, start)
	for block := strings.Repeat("<a>b</a>", 8<<10); err == nil; sent.Add(int64(len(block))) {
		_, err = io.WriteString(w, block)
	}
}

// No answer of a store costs more than a bound, whichever request it is for.
func TestSend_noAnswerOfAStoreIsReadWithoutEnd(t *testing.T) {
	for kind, start := range map[string]string{
		"begin": "<InitiateMultipartUploadResult>", "complete": "<CompleteMultipartUploadResult>",
		"list": "<ListPartsResult>",
		"part": "", "put": "",
	} {
		t.Run(kind, func(t *testing.T) {
			b := newBucket(t)
			b.patience = 10 * time.Second
			length := 150 << 10
			if kind == "put" {
				length = 1000
			}
			f := b.file(length)
			if kind == "list" { // it is asked for after an interruption
				b.fail(func(_ http.ResponseWriter, r *http.Request) bool {
					if kindOf(r) == "complete" {
						panic(http.ErrAbortHandler)
					}
					return false
				})
				_, _ = b.store().Send(t.Context(), f)
			}
			var sent atomic.Int64
			b.fail(func(w http.ResponseWriter, r *http.Request) bool {
				is := kindOf(r) == kind && strings.HasSuffix(r.URL.Path, ".gz")
				if is {
					_, _ = io.Copy(io.Discard, r.Body)
					endless(w, start, &sent)
				}
				return is
			})
			_, err := b.store().Send(t.Context(), f)
			if n := sent.Load(); n > 8*answerMost {
				t.Errorf("%d MiB were read: %v", n>>20, err)
			}
		})
	}
}

// Check finds what will be refused before anything is crawled: a bucket that is not there, wrong keys, keys that may
// only read, and a server that is no object store. Keys that may only write are right. A store that is down may come
// back.
func TestCheck_findsWhatWillBeRefused(t *testing.T) {
	refuse := func(kind string, status int, code string) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			if kindOf(r) != kind {
				return false
			}
			w.WriteHeader(status)
			if code != "" {
				fmt.Fprintf(w, "<Error><Code>%s</Code></Error>", code)
			}
			return true
		}
	}
	for name, c := range map[string]struct {
		fault  func(http.ResponseWriter, *http.Request) bool
		reason string // of the refusal; "" if there is none
		isErr  bool
	}{
		"sound":          {nil, "", false},
		"no bucket":      {refuse("get", 404, "NoSuchBucket"), "NoSuchBucket", true},
		"wrong key":      {refuse("get", 403, "InvalidAccessKeyId"), "InvalidAccessKeyId", true},
		"wrong secret":   {refuse("get", 403, "SignatureDoesNotMatch"), "SignatureDoesNotMatch", true},
		"other region":   {refuse("get", 301, "PermanentRedirect"), "PermanentRedirect", true},
		"may only read":  {refuse("begin", 403, "AccessDenied"), "AccessDenied", true},
		"may only write": {refuse("get", 403, "AccessDenied"), "", false},
		"no parts":       {refuse("begin", 501, "NotImplemented"), "", false},
		"down":           {refuse("get", 503, "SlowDown"), "", true},
		"a web server": {func(w http.ResponseWriter, _ *http.Request) bool {
			http.Error(w, "<html>not found</html>", http.StatusNotFound)
			return true
		}, "no object store answers", true},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBucket(t)
			b.fail(c.fault)
			err := Check(t.Context(), b.store())
			refusal, ok := errors.AsType[*upload.RefusedError](err)
			if (err != nil) != c.isErr || ok != (c.reason != "") || ok && refusal.Reason != c.reason {
				t.Errorf("%v, a refusal: %v", err, ok)
			}
		})
	}
	b := newBucket(t)
	if err := Check(t.Context(), b.store()); err != nil {
		t.Fatal(err)
	}
	if _, err := b.backend.HeadObject("bucket", "crawls/one/"+checkName); err == nil {
		t.Error("the check has stored an object")
	}
	b.server.Close()
	if err := Check(t.Context(), b.store()); err == nil || errors.As(err, new(*upload.RefusedError)) {
		t.Errorf("a store that is off: %v", err)
	}
	if err := Check(canceled(t), b.store()); err == nil {
		t.Error("it does not end with its context")
	}
}

func canceled(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// A 404 of a gateway is not that of the store: the object does not count as lost.
func TestConfirm_aGatewayDoesNotMakeAnObjectMissing(t *testing.T) {
	b := newBucket(t)
	f := b.file(1000)
	r, err := b.store().Send(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	b.fail(func(w http.ResponseWriter, _ *http.Request) bool {
		http.Error(w, "<html>no such page</html>", http.StatusNotFound)
		return true
	})
	if err := b.store().Confirm(t.Context(), f, &r); err == nil || errors.Is(err, upload.ErrLost) {
		t.Errorf("behind a gateway: %v", err)
	}
	b.fail(nil)
	if _, err := b.backend.DeleteObject("bucket", "crawls/one/"+warcName); err != nil {
		t.Fatal(err)
	}
	if err := b.store().Confirm(t.Context(), f, &r); !errors.Is(err, upload.ErrLost) {
		t.Errorf("an object that is gone: %v", err)
	}
}
