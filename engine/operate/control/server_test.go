package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"orbweaver/engine/frontier/admission"
	"orbweaver/engine/operate/changes"
	"orbweaver/engine/operate/control/dashboard"
	"orbweaver/engine/operate/history"
	"orbweaver/engine/operate/hosts"
	"orbweaver/engine/operate/report"
	"orbweaver/engine/state/counters"
	"orbweaver/engine/state/lifecycle"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake notes what is done to it.
type fake struct {
	did   []string
	stays error // why it cannot leave
	fault error // why URLs cannot be kept
}

func (f *fake) note(format string, args ...any) { f.did = append(f.did, fmt.Sprintf(format, args...)) }

func (*fake) Report() report.Report {
	return report.Report{
		State: lifecycle.Running, Reported: counters.Reported[int64]{PagesStored: 12}, Outcomes: map[string]int64{"ok": 12},
		Statuses: map[string]int64{"200": 12},
		Dropped:  map[string]int64{"scope": 3},
	}
}
func (f *fake) Pause() bool  { f.note("pause"); return true }
func (f *fake) Resume() bool { f.note("resume"); return false }
func (f *fake) Stop()        { f.note("stop") }

func (f *fake) Leave(context.Context) error {
	f.note("leave")
	return f.stays
}

func (f *fake) AddURLs(_ context.Context, urls iter.Seq[string]) (admission.Added, error) {
	all := slices.Collect(urls)
	f.note("add %d", len(all))
	if slices.Contains(all, "bad") {
		return admission.Added{
			New: len(all) - 1, Refused: 1, URLs: []admission.AddedURL{{URL: "bad", Result: admission.Refused, Reason: "no URL"}},
		}, f.fault
	}
	return admission.Added{New: len(all)}, nil
}

func (f *fake) HostRule(rules []string) (taken int, err error) {
	for _, rule := range rules {
		if strings.Count(rule, " ") != 1 {
			err = errors.Join(err, errors.New("no rule: "+rule))
			continue
		}
		f.note("rule %s", rule)
		taken++
	}
	return taken, err
}

func (f *fake) HostRules() (live, fixed []string) {
	return []string{"a.test exclude"}, slices.Repeat([]string{"b.test host-delay=1s"}, 10_003)
}

func (*fake) AnswerQuestion(_ context.Context, question string, values map[string][]string) (any, error) {
	if slices.Contains(values["host"], "unknown.test") {
		return nil, hosts.ErrUnknown
	}
	return map[string]string{"question": question, "values": fmt.Sprint(values)}, nil
}

func (*fake) ListSettings() changes.List {
	return changes.List{
		Settings: []changes.Setting{{Name: "host-delay", Value: "4s", Default: "4s", Help: "Time between two requests."}},
		Changes:  []changes.Entry{{Change: 1, By: "uid 7", Setting: "host-delay", From: "1s", To: "4s"}},
	}
}

// ChangeSettings refuses the setting a, and wants to hear yes for the scope.
func (f *fake) ChangeSettings(_ context.Context, r changes.Request) (result changes.Result, err error) {
	for _, s := range r.Settings {
		name, value, _ := strings.Cut(s, "=")
		result.Changed = append(result.Changed, changes.Changed{Name: name, From: "1", To: value})
		if name == "a" {
			return changes.Result{Changed: []changes.Changed{}}, errors.New("a: there is no such setting")
		}
		if name == "scope" {
			result.Drops = &changes.Drops{Queued: 9, Looked: 9, Dropped: 2, Complete: true, Some: []string{"http://a.test/"}}
			if !r.Yes && !r.DryRun {
				err = changes.ErrUnconfirmed
			}
		}
	}
	f.note("set %s by %s, yes %v, dry run %v, why %q", r.Settings, r.By, r.Yes, r.DryRun, r.Why)
	return result, err
}

func (f *fake) UndoSettings(_ context.Context, r changes.Request) (changes.Result, error) {
	f.note("undo by %s", r.By)
	changed := []changes.Changed{{Name: "host-delay", From: "4s", To: "1s"}}
	return changes.Result{Change: 2, Undoes: 1, Changed: changed}, nil
}

func ask(f *fake, method, path string, body io.Reader, header ...string) *httptest.ResponseRecorder {
	req := httptest.NewRequest(method, path, body)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	serving(f).ServeHTTP(w, req)
	return w
}

// serving is what a server does behind its listener, where no client is refused.
func serving(c Crawl) http.Handler {
	return new(access).guard(handling(c, slog.New(slog.DiscardHandler)))
}

// handling is what a server does with permitted requests.
func handling(c Crawl, log *slog.Logger) http.Handler {
	recorder := history.Open(history.Options{Report: c.Report, Log: log})
	return newHandler(c, Options{Log: log}, dashboard.NewLive(recorder))
}

func TestActions(t *testing.T) {
	f := new(fake)
	for _, c := range []struct {
		path, body string
		code       int
		message    string
		err        string
	}{
		{"/pause", "", 200, "paused", ""},
		{"/resume", "", 200, "the crawl is not paused", ""},
		{"/stop", "", 200, "stopping", ""},
		{"/leave", "", 200, "leaving permanently: its hosts are given to the other agents", ""},
		{"/reload", "", 400, "", "control: this crawl has no file of an agent"},
		{"/add", "http://a.test/\n# no\n\n http://b.test/ ", 200, "2 URLs: 2 new, 0 known, 0 refused", ""},
		{"/add", "http://a.test/\nbad", 400, "2 URLs: 1 new, 0 known, 1 refused",
			"1 of 2 URLs was refused\n\"bad\": no URL"},
		{"/block", ".a.test\nb c\nd.test", 400, "2 of 3 host rules saved", "no rule: b c exclude"},
		{"/rule", ".a.test host-delay=4s", 200, "1 of 1 host rule saved", ""},
		{"/set", "host-delay=4s\nip-delay=1s", 200, "host-delay is now 4s, was 1; ip-delay is now 1s, was 1", ""},
		{"/set?yess=true", "host-delay=4s", 400, "", `control: parameter: "yess" is not one of yes, dry-run and why`},
		{"/set?yes=maybe", "host-delay=4s", 400, "", `control: parameter: yes is "maybe", and not true or false`},
		{
			"/set", "scope=host", 409,
			"scope would be host, was 1; 2 of 9 queued URLs are dropped, such as http://a.test/",
			changes.ErrUnconfirmed.Error(),
		},
		{"/set?dry-run=true", "scope=host", 200,
			"scope would be host, was 1; 2 of 9 queued URLs are dropped, such as http://a.test/", ""},
		{"/set?yes=true&why=too+far", "scope=host", 200,
			"scope is now host, was 1; 2 of 9 queued URLs are dropped, such as http://a.test/", ""},
		{"/undo", "", 200, "host-delay is now 1s, was 4s", ""},
	} {
		w := ask(f, http.MethodPost, c.path, strings.NewReader(c.body))
		var r Reply
		if err := json.Unmarshal(w.Body.Bytes(), &r); err != nil || w.Code != c.code || r.Message != c.message ||
			r.Error != c.err {
			t.Errorf("%s: %d %+v, %v", c.path, w.Code, r, err)
		}
	}
	want := []string{
		"pause",
		"resume",
		"stop",
		"leave",
		"add 2",
		"add 2",
		"rule .a.test exclude",
		"rule d.test exclude",
		"rule .a.test host-delay=4s",
		`set [host-delay=4s ip-delay=1s] by unknown, yes false, dry run false, why ""`,
		`set [scope=host] by unknown, yes false, dry run false, why ""`,
		`set [scope=host] by unknown, yes false, dry run true, why ""`,
		`set [scope=host] by unknown, yes true, dry run false, why "too far"`,
		"undo by unknown",
	}
	if !slices.Equal(f.did, want) {
		t.Errorf("%q", f.did)
	}
}

// A file may be long: what is listed of it has an end, and says so.
func TestHostRulesAreListed(t *testing.T) {
	var h HostRules
	if err := json.Unmarshal(ask(new(fake), http.MethodGet, "/rules", nil).Body.Bytes(), &h); err != nil {
		t.Fatal(err)
	}
	if len(h.Live) != 1 || h.Live[0] != "a.test exclude" || len(h.Fixed) != 10_000 || h.More != 3 {
		t.Errorf("%q, %d of the file, %d more", h.Live, len(h.Fixed), h.More)
	}
}

func TestWhatIsRefused(t *testing.T) {
	f := new(fake)
	for _, header := range [][]string{
		{"Origin", "https://page.example"}, {"Origin", "null"}, {"Sec-Fetch-Site", "same-origin"},
	} {
		for _, path := range []string{"/stop", "/status", "/metrics"} {
			method := http.MethodGet
			if path == "/stop" {
				method = http.MethodPost
			}
			if w := ask(f, method, path, nil, header...); w.Code != http.StatusForbidden {
				t.Errorf("%s with %v: %d", path, header, w.Code)
			}
		}
	}
	for path, method := range map[string]string{
		"/stop": http.MethodGet, "/pause": http.MethodGet, "/status": http.MethodPost,
	} {
		if w := ask(f, method, path, nil); w.Code != http.StatusMethodNotAllowed {
			t.Errorf("%s %s: %d", method, path, w.Code)
		}
	}
	if w := ask(f, http.MethodGet, "/nothing", nil); w.Code != http.StatusNotFound {
		t.Errorf("/nothing: %d", w.Code)
	}
	if len(f.did) > 0 {
		t.Errorf("and yet it did %q", f.did)
	}
}

type endless struct {
	line []byte
	at   int
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.line[e.at:])
	e.at = (e.at + n) % len(e.line)
	return n, nil
}

func TestMetrics(t *testing.T) {
	body := ask(new(fake), http.MethodGet, "/metrics", nil).Body.String()
	for _, want := range []string{
		"\norbweaver_pages_stored_total 12\n", `orbweaver_outcomes_total{outcome="ok"} 12`,
		`orbweaver_responses_total{code="200"} 12`,
		`orbweaver_dropped_total{reason="scope"} 3`, `orbweaver_state{state="running"} 1`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("no %q in:\n%s", want, body)
		}
	}
}

func TestClientAndServer(t *testing.T) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("long", 40))
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{"127.0.0.1:0", "unix:" + filepath.Join(t.TempDir(), "s"), SocketOf(dir)} {
		f := new(fake)
		s, err := Listen(t.Context(), Options{Address: address, Token: secret}, f)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(address, "127") {
			address = s.Addr()
		} else if _, err := Listen(t.Context(), Options{Address: address}, f); err == nil ||
			!strings.Contains(err.Error(), "in use") {
			t.Errorf("%s is listened on twice: %v", address, err)
		}
		c := Dial(address, secret)
		if r, err := c.Status(t.Context()); err != nil || r.PagesStored != 12 {
			t.Errorf("%s: status: %+v, %v", address, r, err)
		}
		if r, err := c.Do(t.Context(), "add", []string{"http://a.test/", "bad"}); err == nil || r.Message == "" {
			t.Errorf("%s: add: %+v, %v", address, r, err)
		}
		f.fault = errors.New("disk full")
		_, err = c.Do(t.Context(), "add", []string{"http://a.test/", "bad"})
		if answer, ok := errors.AsType[*AnswerError](err); !ok || answer.Status != http.StatusInternalServerError {
			t.Errorf("%s: with a fault of the disk: %v", address, err)
		}
		if r, err := c.Do(t.Context(), "pause", nil); err != nil || r.Message != "paused" {
			t.Errorf("%s: pause: %+v, %v", address, r, err)
		}
		if _, err := c.Do(t.Context(), "explode", nil); err == nil || !strings.Contains(err.Error(), "404") {
			t.Errorf("%s: explode: %v", address, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if _, err := c.Status(t.Context()); !errors.Is(err, ErrNotRunning) {
			t.Errorf("%s: after Close: %v", address, err)
		}
	}
}

// TestSocketsReplaceTheDeadAlone kills a server as a crash does, leaving its socket behind.
func TestSocketsReplaceTheDeadAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	if err := os.WriteFile(path, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(t.Context(), Options{Address: "unix:" + path}, new(fake)); err == nil ||
		!strings.Contains(err.Error(), "no socket") {
		t.Errorf("a file: %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	l, err := listenUnix(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	l.(*unixListener).Listener.(*net.UnixListener).SetUnlinkOnClose(false)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(path); err != nil {
		t.Fatal("the test removed the socket that it wants to leave:", err)
	}
	s, err := Listen(t.Context(), Options{Address: "unix:" + path}, new(fake))
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode: %v, %v", info, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// Each question has an endpoint with its parameters, and a host that the crawl does not know is 404.
func TestQuestions(t *testing.T) {
	for _, c := range []struct {
		path, body string
		code       int
	}{
		{"/hosts?sort=errors&limit=3", `{"question":"hosts","values":"map[limit:[3] sort:[errors]]"}`, 200},
		{"/queue?host=a.test", `{"question":"queue","values":"map[host:[a.test]]"}`, 200},
		{"/active", `{"question":"active","values":"map[]"}`, 200},
		{"/queue?host=unknown.test", `{"message":"","error":"hosts: the crawl does not know this host"}`, 404},
	} {
		w := ask(new(fake), http.MethodGet, c.path, nil)
		if got := strings.TrimSpace(w.Body.String()); w.Code != c.code || got != c.body {
			t.Errorf("%s: %d %s", c.path, w.Code, got)
		}
	}
}
