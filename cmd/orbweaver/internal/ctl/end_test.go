package ctl

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"orbweaver/cmd/orbweaver/internal/crawl"
	"orbweaver/engine/frontier/ending"
	"orbweaver/engine/operate/control"
	"orbweaver/engine/operate/doctor"
	"orbweaver/engine/operate/history"
	"orbweaver/engine/operate/operator"
	"orbweaver/engine/operate/report"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/internal/cli/command"
	"orbweaver/internal/vfs"
)

// endingCrawl has 3,600 URLs in its queue, and a host that takes two hours.
type endingCrawl struct{ control.Crawl }

func (endingCrawl) Report() report.Report {
	return report.Report{
		State: lifecycle.Running, URLsQueued: 3600, Waiting: "politeness",
		Outlook: &ending.Outlook{URLs: 3600, LongestHost: "http://long.test\x1b", LongestSeconds: 7200, SecondsLeast: 7200},
	}
}

func (endingCrawl) AnswerQuestion(context.Context, string, map[string][]string) (any, error) {
	return operator.Diagnoses{Diagnoses: []doctor.Diagnosis{{Text: "politeness", Remedy: "more hosts"}}}, nil
}

// serveQueue answers for a crawl whose queue has shrunk by two URLs a second for so long. It returns the directory.
func serveQueue(t *testing.T, seconds int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	h, now := history.New(), time.Now().Unix()
	for ago := seconds; ago > 0; ago-- {
		row := make([]float32, len(history.Names()))
		for i := range row {
			row[i] = float32(math.NaN())
		}
		row[slices.Index(history.Names(), "urls_queued")] = float32(3600 + 2*ago)
		h.Add(now-int64(ago), row)
	}
	fsys := vfs.NewMem(1)
	f, err := fsys.Create("history")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(h.Encode(nil)); err != nil {
		t.Fatal(err)
	}
	s, err := control.Listen(t.Context(), control.Options{
		Socket: control.SocketOf(dir), History: control.HistoryFile{FS: fsys, Name: "history"},
	}, endingCrawl{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// ctl status and doctor say when the crawl ends and which host is last, in the words of the dashboard. While that
// cannot be estimated they say nothing of it.
func TestEnd_isInStatusAndDoctor(t *testing.T) {
	const sentence = "the queue is empty in 2 h 0 min at the soonest: so long takes the queue of http://long.test"
	for _, c := range []struct {
		seconds int // of history
		isKnown bool
	}{{200, true}, {0, false}} {
		dir := serveQueue(t, c.seconds)
		awaitSample(t, dir)
		for name, run := range map[string]func(inv *command.Invocation, isJSON bool) error{
			"  end       ": func(inv *command.Invocation, isJSON bool) error {
				x := &Command{asked: asked{Target: crawl.Target{Dir: dir}, JSON: isJSON}}
				return x.Status.Run(inv, x)
			},
			"end: ": func(inv *command.Invocation, isJSON bool) error {
				return (&DoctorCommand{Target: crawl.Target{Dir: dir}, JSON: isJSON}).Run(inv)
			},
		} {
			var text, all bytes.Buffer
			inv := &command.Invocation{Context: t.Context(), Stdout: &text, Stderr: &text}
			if err := run(inv, false); err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(text.String(), "\n")
			at := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, name+sentence) })
			if (at >= 0) != c.isKnown || strings.Contains(text.String(), "estimate") || strings.Contains(text.String(), "\x1b") {
				t.Errorf("%q after %d s of history: %s", name, c.seconds, text.String())
			}
			inv.Stdout = &all
			if err := run(inv, true); err != nil {
				t.Fatal(err)
			}
			var answer struct{ End *history.Estimate }
			if err := json.Unmarshal(all.Bytes(), &answer); err != nil {
				t.Fatal(err)
			}
			if end := answer.End; (end != nil) != c.isKnown ||
				end != nil && (end.Seconds != 7200 || !strings.HasPrefix(end.Sentence, sentence)) {
				t.Errorf("%q after %d s of history, in JSON: %+v", name, c.seconds, end)
			}
		}
	}
}

// awaitSample waits until a crawl has its first sample.
func awaitSample(t *testing.T, dir string) {
	t.Helper()
	client := control.Dial(control.SocketOf(dir), "")
	for range 1000 {
		var now history.Now
		if err := client.AskQuestion(t.Context(), "now", &now); err != nil {
			t.Fatal(err)
		}
		if now.End.Sentence != "" {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("no sample was taken in ten seconds")
}
