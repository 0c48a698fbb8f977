package hook

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// scripted starts programs within this process. It implements Starter.
type scripted struct {
	began  time.Time
	starts []time.Duration  // since began
	kind   string           // of the questions; "" for PageKind
	said   string           // in each answer
	log    slog.Handler     // nil for none
	answer func(n int) bool // whether the nth program that was started answers
}

// inner is a program within this process. It implements Program.
type inner struct {
	*io.PipeReader

	in, own interface{ Close() error }
	to      io.Writer
}

func (p inner) Write(b []byte) (int, error) { return p.to.Write(b) }

// CloseInput implements Program.
func (p inner) CloseInput() { _ = p.in.Close() }

// Kill implements Program.
func (p inner) Kill() { _, _, _ = p.Close(), p.in.Close(), p.own.Close() }

// Start implements Starter.
func (x *scripted) Start(string) (Program, error) {
	x.starts = append(x.starts, time.Since(x.began))
	n := len(x.starts)
	in, to := io.Pipe()
	out, from := io.Pipe()
	go func() {
		defer from.Close()
		for {
			var lengths [8]byte
			if _, err := io.ReadFull(in, lengths[:]); err != nil {
				return
			}
			head, body := binary.BigEndian.Uint32(lengths[:4]), binary.BigEndian.Uint32(lengths[4:])
			text := make([]byte, head)
			_, _ = io.ReadFull(in, text)
			_, _ = io.CopyN(io.Discard, in, int64(body))
			if !x.answer(n) {
				return
			}
			var id uint64
			_, _ = fmt.Sscanf(string(text), `{"v":1,"kind":"`+cmp.Or(x.kind, PageKind)+`","id":%d`, &id)
			said := fmt.Sprintf(`{"v":1,"id":%d%s}`, id, x.said)
			_, _ = from.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(said))), 0, 0, 0, 0))
			_, _ = io.WriteString(from, said)
		}
	}()
	return inner{PipeReader: out, in: to, own: in, to: to}, nil
}

func newTestHook(x *scripted, o Options) *Hook {
	o.Hooks, o.Timeout = []string{"page=x"}, time.Minute
	x.began = time.Now()
	return New(o, x, slog.New(cmp.Or[slog.Handler](x.log, slog.DiscardHandler)))
}

// warnings counts the warnings of a log. It implements slog.Handler.
type warnings struct {
	slog.Handler

	n int
}

func (*warnings) Enabled(context.Context, slog.Level) bool { return true }

// Handle implements slog.Handler.
func (w *warnings) Handle(context.Context, slog.Record) error {
	w.n++
	return nil
}

// Of the names of counts, at most 256 are kept with those of --stat and of earlier runs. A count with the name of a
// --stat is not added to it. One warning says that some are left out.
func TestHook_leavesOutCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := new(warnings)
		x := &scripted{log: log, answer: func(int) bool { return true }}
		h := newTestHook(x, Options{Parallel: 1, Stats: []string{"mine"}, Counts: []string{"earlier"}})
		kept := map[string]bool{}
		for i := range 300 {
			x.said = fmt.Sprintf(`,"counts":{"n%d":1,"earlier":2,"mine":3}`, i)
			a, err := h.Ask(t.Context(), &Page{}, nil)
			if err != nil || a.Counts["earlier"] != 2 {
				t.Fatalf("%v, %v", a, err)
			}
			for name := range a.Counts {
				kept[name] = true
			}
		}
		if len(kept) != namesMost-1 || kept["mine"] || !kept["n253"] || log.n != 1 {
			t.Errorf("%d names are kept, %v, %d warnings", len(kept), kept["mine"], log.n)
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
}

// Starts of a program that always ends wait 1, 2, 4, ... 60 s. An answer makes the next wait 1 s again.
func TestHook_startsAgainEverMoreSlowly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const good = 16 // the first start whose program answers once
		asked := 0
		x := &scripted{answer: func(n int) bool {
			if n >= good {
				asked++
			}
			return n == good && asked == 1
		}}
		h := newTestHook(x, Options{Parallel: 4})
		for range 3000 {
			if _, err := h.Ask(t.Context(), &Page{URL: "http://a.test/"}, nil); err != nil {
				t.Fatal(err)
			}
			time.Sleep(250 * time.Millisecond)
		}
		var waits []int // in seconds, rounded
		for i, start := range x.starts[1:] {
			waits = append(waits, int((start - x.starts[i] + time.Second/4).Seconds()))
		}
		want := []int{1, 2, 4, 8, 16, 32, 60, 60}
		if len(waits) < good || !slices.Equal(waits[:len(want)], want) || waits[good-1] != 1 {
			t.Errorf("waits of %v s, want %v, and 1 after start %d", waits, want, good)
		}
		stats := h.Stats()
		if stats.Pages[answered] != 1 || stats.Pages[down] == 0 || stats.Starts != int64(len(x.starts)) {
			t.Errorf("%+v", stats)
		}
		if h.Trouble() == "" {
			t.Error("it has no trouble")
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
}

// With --hook-full skip a page does not wait while the program has as many as it may; with wait it does.
func TestHook_fullSkipsOrWaits(t *testing.T) {
	for _, mode := range []Full{Wait, Skip} {
		synctest.Test(t, func(t *testing.T) {
			const slow = 10 * time.Second
			x := &scripted{answer: func(int) bool { time.Sleep(slow); return true }}
			h := newTestHook(x, Options{Parallel: 1, Full: mode})
			go func() {
				_, _ = h.Ask(context.Background(), &Page{}, nil)
			}()
			synctest.Wait()
			began, said := time.Now(), make(chan string, 1)
			time.AfterFunc(time.Second, func() { said <- h.Trouble() })
			_, err := h.Ask(t.Context(), &Page{}, nil)
			took, trouble := time.Since(began), <-said
			time.Sleep(slow)
			isFull := h.Stats().Pages[full] == 1
			if err != nil || (mode == Skip) != (took == 0) || (mode == Skip) != isFull || (mode == Wait) != (trouble != "") {
				t.Errorf("mode %d: took %v, trouble %q, %+v, %v", mode, took, trouble, h.Stats(), err)
			}
			if err := h.Close(); err != nil && !errors.Is(err, io.EOF) {
				t.Error(err)
			}
		})
	}
}

// Only pages of the media types of --hook page:TYPE=CMD are asked about.
func TestHook_asksAboutItsTypes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := &scripted{began: time.Now(), answer: func(int) bool { return true }}
		o := Options{Hooks: []string{"page:Application/PDF,image/*=x"}, Parallel: 1, Timeout: time.Minute}
		h := New(o, x, slog.New(slog.DiscardHandler))
		for _, media := range []string{"application/pdf", "application/pdfx", "", "image/png", "text/html", "imagery/png"} {
			if _, err := h.Ask(t.Context(), &Page{Type: media}, nil); err != nil {
				t.Fatal(err)
			}
		}
		if n := h.Stats().Pages[answered]; n != 2 {
			t.Errorf("asked about %d pages", n)
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
}
