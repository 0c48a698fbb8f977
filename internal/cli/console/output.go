package console

import (
	"bytes"
	"fmt"
	"io"
	"sync"
)

// Output is standard error while a crawl runs. That may be a terminal that is stopped, a pipe without a reader, or a
// file on a full disk. Code that writes a message does not wait: the text waits here, up to a limit, until one
// goroutine has written it. Messages beyond the limit are counted, and the count is printed later. Before Start and
// after Close it is written at once.
type Output struct {
	out  io.Writer
	wake chan struct{} // capacity 1
	done chan struct{} // closed when the goroutine ends

	hasStatusLine bool // out is a terminal that can go back in a line
	hasColours    bool
	screen        *screen

	mu      sync.Mutex
	running bool
	waiting []byte
	lost    int
	status  Status // to be drawn; only the latest counts
	redraw  bool   // status is not drawn yet
}

// outputMax is how much waits at most, in bytes.
const outputMax = 1 << 20

// New returns an Output that writes to out.
func New(out io.Writer) *Output {
	o := &Output{out: out, hasColours: hasColours(out), screen: new(screen), wake: make(chan struct{}, 1)}
	if f, ok := terminalOf(out); ok {
		o.hasStatusLine = true
		o.screen.width = func() int { return widthOf(f) }
	}
	return o
}

// HasStatusLine says whether SetStatus shows anything.
func (o *Output) HasStatusLine() bool { return o.hasStatusLine }

// Write never fails: there is no place to report it.
func (o *Output) Write(b []byte) (int, error) {
	n := len(b)
	if o.hasColours {
		b = paintLevel(b)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case !o.running:
		_, _ = o.out.Write(b) // as above
	case len(o.waiting)+len(b) > outputMax:
		o.lost++
	default:
		o.waiting = append(o.waiting, b...)
		o.poke()
	}
	return n, nil
}

// SetStatus replaces the status line. An empty Status takes it away.
func (o *Output) SetStatus(s Status) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.hasStatusLine || !o.running {
		return
	}
	o.status, o.redraw = s, true
	o.poke()
}

func (o *Output) poke() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// Start begins to write beside the code that has messages.
func (o *Output) Start() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.running, o.done = true, make(chan struct{})
	go o.run(o.done)
}

// run writes until Close, and what there is then.
func (o *Output) run(done chan<- struct{}) {
	defer close(done)
	for range o.wake {
		for {
			text, more := o.take()
			if len(text) == 0 {
				if !more {
					return
				}
				break
			}
			_, _ = o.out.Write(text) // whatever is wrong with it, the crawl goes on
		}
	}
}

// take returns what must be written now, and says whether more may come.
func (o *Output) take() (text []byte, more bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	text, o.waiting = o.waiting, nil
	if o.lost > 0 {
		text = fmt.Appendf(text, "orbweaver: %d lines were lost here: the lines before them were not read in time\n", o.lost)
		o.lost = 0
	}
	if !o.hasStatusLine {
		return text, o.running
	}
	if !o.running {
		o.status, o.redraw = Status{}, o.screen.columns > 0
	}
	if len(text) > 0 || o.redraw {
		o.redraw = false
		text = o.screen.draw(text, o.status)
	}
	return text, o.running
}

// Close takes the status line away and waits until all is written. The crawl is on disk then, so nothing but messages
// can be lost. It may be called again.
func (o *Output) Close() {
	o.mu.Lock()
	if !o.running {
		o.mu.Unlock()
		return
	}
	o.running = false
	done := o.done
	o.poke()
	o.mu.Unlock()
	<-done
}

// screen is a terminal whose last line is the status line. One goroutine uses it.
type screen struct {
	width   func() int // columns of the terminal now
	columns int        // that the status line takes; 0 if none is drawn
}

// draw returns what the terminal must get so that text stands above the status line.
func (s *screen) draw(text []byte, status Status) []byte {
	width := s.width()
	var b bytes.Buffer
	if s.columns > 0 {
		b.WriteByte('\r')
		if rows := (s.columns - 1) / width; rows > 0 { // the terminal became narrower, and has wrapped the line
			fmt.Fprintf(&b, "\x1b[%dA", rows)
		}
		b.WriteString("\x1b[J")
	}
	b.Write(text)
	if len(text) > 0 && text[len(text)-1] != '\n' {
		b.WriteByte('\n')
	}
	line := status.Fit(width - 1) // a full line would make some terminals begin the next one
	b.WriteString(line)
	s.columns = columnsOf(line)
	return b.Bytes()
}
