package hook

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"orbweaver/internal/plural"
	"orbweaver/internal/throttle"
)

// Starter starts the program of a kind.
type Starter interface {
	Start(kind string) (Program, error)
}

// Program is a started program. Read and Write are its output and its input. Both fail once Kill was called.
type Program interface {
	Read(b []byte) (int, error)
	Write(b []byte) (int, error)
	// CloseInput tells the program that there are no more pages.
	CloseInput()
	// Kill ends the program and what it has started, and waits for it. Only the first call does something.
	Kill()
}

// Hook asks a program about pages. Safe for concurrent use. Make it with New.
type Hook struct {
	kind    string
	isOn    bool     // there is a program of the kind
	types   []string // media types of the pages that it is asked about; nil for all
	o       Options
	starter Starter
	log     *slog.Logger
	room    chan struct{} // one for each page that the program has
	waiting atomic.Int64  // pages that wait for room
	ids     atomic.Uint64
	loops   sync.WaitGroup // of the programs that were started

	mu struct {
		sync.Mutex
		program  *started // nil if none runs
		failures int      // in a row
		nextTry  time.Time
		isClosed bool
		warnings throttle.Log
		stats    Stats
		counts   map[string]bool // names of counts; false if they are left out
		isTold   bool            // the log says that some are left out
	}
}

// Stats are the numbers of this run.
type Stats struct {
	Pages  map[string]int64 `json:"pages" metric:"hook_pages_total" label:"result" help:"Pages for the program of --hook by what came back: answered, full (it had too many), down (it waits for a restart), failed (it ended, or wrote something else), timeout. In this run."`
	Links  int64            `json:"links" metric:"hook_links_total" help:"Links in its answers."`
	Starts int64            `json:"starts" metric:"hook_starts_total" help:"Starts of the program."`
	Waited float64          `json:"waited_seconds" metric:"hook_waited_seconds_total" help:"Time that parse workers have waited for it, in all."`
	Error  string           `json:"error,omitempty"` // why it failed last; "" since its next answer
}

// The results of Stats.Pages.
const (
	answered = "answered"
	full     = "full"
	down     = "down"
	failed   = "failed"
	timeout  = "timeout"
	aborted  = "aborted" // the crawl was; such a page is not counted
)

const waitMost = time.Minute

// New returns a Hook that starts the program of the options with the first page.
func New(o Options, starter Starter, log *slog.Logger) *Hook {
	return newHook(PageKind, o, starter, log)
}

func newHook(kind string, o Options, starter Starter, log *slog.Logger) *Hook {
	h := &Hook{kind: kind, o: o, starter: starter, log: log, room: make(chan struct{}, o.Parallel)}
	h.isOn, h.types, h.mu.stats = o.Command(kind) != nil, o.pageTypes(), Stats{Pages: map[string]int64{}}
	h.mu.counts = map[string]bool{}
	for _, name := range o.Counts {
		h.mu.counts[name] = true
	}
	for _, name := range o.Stats {
		h.mu.counts[name] = false
	}
	return h
}

// IsOn reports whether there is a program to ask.
func (h *Hook) IsOn() bool { return h.isOn }

// Ask asks about a page; the answer is empty if there is none. The body is borrowed. An error is that of ctx: the page
// was not asked about to the end.
func (h *Hook) Ask(ctx context.Context, p *Page, body []byte) (Answer, error) {
	if h.types != nil && !slices.ContainsFunc(h.types, func(of string) bool { return isOfType(p.Type, of) }) {
		return Answer{}, nil
	}
	a, err := h.askQuestion(ctx, p, body)
	if a == nil {
		return Answer{}, err
	}
	return *a, nil
}

// isOfType reports whether a media type is one of --hook page:TYPE=CMD.
func isOfType(media, of string) bool {
	begin, isBegin := strings.CutSuffix(of, "*")
	return media == of || isBegin && strings.HasPrefix(media, begin)
}

// askQuestion is Ask for any question; nil if there is no answer.
func (h *Hook) askQuestion(ctx context.Context, q head, body []byte) (*Answer, error) {
	began := time.Now()
	defer func() {
		h.mu.Lock()
		h.mu.stats.Waited += time.Since(began).Seconds()
		h.mu.Unlock()
	}()
	select {
	case h.room <- struct{}{}:
	default:
		if h.o.Full == Skip {
			h.count(full)
			return nil, nil
		}
		h.waiting.Add(1)
		defer h.waiting.Add(-1)
		select {
		case h.room <- struct{}{}:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	defer func() { <-h.room }()
	result := down
	for range 2 { // once more if the program has ended
		program, err := h.current(ctx)
		if program == nil {
			h.count(result)
			return nil, err
		}
		var a *Answer
		if a, result, err = h.askProgram(ctx, program, q, body); err != nil {
			return nil, err
		}
		if a != nil {
			h.take(a)
			return a, nil
		}
		if result == timeout {
			break
		}
	}
	h.count(result)
	return nil, nil
}

// askProgram asks one started program. Without an answer the result says why.
func (h *Hook) askProgram(
	ctx context.Context, s *started, about head, body []byte,
) (_ *Answer, result string, _ error) {
	id := h.ids.Add(1)
	about.setID(id)
	q := &question{id: id, head: about, body: body, written: make(chan struct{}), answer: make(chan *Answer, 1)}
	asked := time.Now()
	timer := time.NewTimer(h.o.Timeout)
	defer timer.Stop()
	questions, written := s.questions, (chan struct{})(nil)
	for {
		var answers chan *Answer
		if written == nil && questions == nil { // the body is not used any more
			answers = q.answer
		}
		select {
		case questions <- q:
			questions, written = nil, q.written
		case <-written:
			written = nil
		case a := <-answers:
			return a, answered, nil
		case <-s.ended:
			s.join()
			select {
			case a := <-q.answer: // it ended after it
				return a, answered, nil
			default:
				return nil, s.result, nil
			}
		case <-ctx.Done():
			h.fail(s, aborted, ctx.Err()) // the body is borrowed
			s.join()
			return nil, aborted, ctx.Err()
		case <-timer.C:
			now := time.Now()
			idle := now.Sub(s.lastAnswer(asked))
			if idle >= h.o.Timeout || now.Sub(asked) >= h.o.Timeout*time.Duration(h.o.Parallel) {
				h.fail(s, timeout, fmt.Errorf("it gave no answer for %v (--hook-timeout)", h.o.Timeout))
				continue // it has ended
			}
			timer.Reset(h.o.Timeout - idle)
		}
	}
}

// current returns the program that runs, and starts one if none does. It returns nil while a start must wait.
func (h *Hook) current(ctx context.Context) (*started, error) {
	for {
		h.mu.Lock()
		wait := time.Until(h.mu.nextTry)
		switch {
		case h.mu.isClosed:
			h.mu.Unlock()
			return nil, nil
		case h.mu.program != nil:
			defer h.mu.Unlock()
			return h.mu.program, nil
		case wait <= 0:
			s, err := h.startLocked()
			h.mu.Unlock()
			if err != nil {
				h.fail(nil, failed, err)
				continue
			}
			return s, nil
		}
		isFirst := h.mu.failures == 1
		h.mu.Unlock()
		if !isFirst {
			return nil, nil
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, ctx.Err()
		}
	}
}

// startLocked starts the program.
func (h *Hook) startLocked() (*started, error) {
	h.mu.stats.Starts++
	program, err := h.starter.Start(h.kind)
	if err != nil {
		return nil, err
	}
	h.mu.program = newStarted(program, h.fail, &h.loops)
	return h.mu.program, nil
}

// fail notes that a program is of no use any more, and kills it; nil if it could not be started. Of several calls for a
// program the first counts.
func (h *Hook) fail(s *started, result string, why error) {
	h.mu.Lock()
	if s != h.mu.program {
		h.mu.Unlock()
		return
	}
	h.mu.program = nil
	h.mu.failures++
	h.mu.nextTry = time.Now().Add(min(time.Second<<min(h.mu.failures-1, 10), waitMost))
	h.mu.stats.Error = why.Error()
	n, isTold := h.mu.warnings.Allow(time.Now())
	h.mu.Unlock()
	if isTold && result != aborted {
		h.log.Warn("the program of --hook has failed; it is started again, and pages are stored", "kind", h.kind,
			"error", why, "failures", n)
	}
	if s != nil {
		s.result = result
		close(s.ended)
		s.program.Kill()
	}
}

// count counts a page without an answer.
func (h *Hook) count(result string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.mu.stats.Pages[result]++
}

// take counts a page with an answer, and removes the counts that cannot be added up.
func (h *Hook) take(a *Answer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.mu.failures, h.mu.stats.Error = 0, ""
	h.mu.stats.Pages[answered]++
	h.mu.stats.Links += int64(len(a.Links))
	for name := range a.Counts {
		isCounted, isKnown := h.mu.counts[name]
		if !isKnown && len(h.mu.counts) < namesMost {
			isCounted, h.mu.counts[name] = true, true
		}
		if isCounted {
			continue
		}
		delete(a.Counts, name)
		if !h.mu.isTold {
			h.mu.isTold = true
			h.log.Warn("counts of --hook are left out: they have the name of a --stat, or are too many", "name", name,
				"names_at_most", namesMost)
		}
	}
}

// namesMost is the largest number of names of counts and of --stat: as counters.Sums keeps.
const namesMost = 256

// Stats returns the numbers as they are now; nil if no program is asked.
func (h *Hook) Stats() *Stats {
	if !h.IsOn() {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	stats := h.mu.stats
	stats.Pages = maps.Clone(stats.Pages)
	return &stats
}

// Trouble says in a line whether the program limits the crawl, or fails; "" if it does neither.
func (h *Hook) Trouble() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch waiting := h.waiting.Load(); {
	case h.mu.failures > 1:
		return fmt.Sprintf("the program of --hook %s has failed %d times in a row (%.120s): the crawl goes on without it",
			h.kind, h.mu.failures, cmp.Or(h.mu.stats.Error, "it does not answer"))
	case waiting > 0:
		return fmt.Sprintf("the program of --hook %s: it has %s, and %d wait for it", h.kind,
			plural.Count(len(h.room), "question"), waiting)
	}
	return ""
}

// endWait is how long a program may take to end after its last page.
const endWait = 5 * time.Second

// Close ends the program: it gets the end of its input, and is killed if it has not ended after some seconds. No Ask
// may be under way.
func (h *Hook) Close() error {
	h.mu.Lock()
	s := h.mu.program
	h.mu.isClosed, h.mu.program = true, nil
	h.mu.Unlock()
	if s != nil {
		close(s.questions)
		select {
		case <-s.readEnd:
		case <-time.After(endWait):
		}
		close(s.ended)
		s.program.Kill()
	}
	h.loops.Wait()
	return nil
}
