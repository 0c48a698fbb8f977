package hook

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// started is a program that was started.
type started struct {
	program   Program
	onFail    func(s *started, result string, why error)
	questions chan *question // closed when there are no more
	ended     chan struct{}  // closed when it is of no use any more
	result    string         // then: of the pages that it had
	writeEnd  chan struct{}  // closed at the end of write
	readEnd   chan struct{}  // closed at the end of read

	mu struct {
		sync.Mutex
		open   map[uint64]*question // that have no answer
		latest time.Time            // answer
	}
}

// question is a question for the program.
type question struct {
	id      uint64
	head    head
	body    []byte        // borrowed until written is closed, or the goroutines have ended
	written chan struct{} // closed when it is written
	answer  chan *Answer  // has room for one
}

func newStarted(program Program, onFail func(*started, string, error), loops *sync.WaitGroup) *started {
	s := &started{
		program: program, onFail: onFail, questions: make(chan *question), ended: make(chan struct{}),
		writeEnd: make(chan struct{}), readEnd: make(chan struct{}),
	}
	s.mu.open = map[uint64]*question{}
	loops.Go(s.write)
	loops.Go(s.read)
	return s
}

// join waits until the goroutines have ended, which use the bodies of questions. The program must have ended.
func (s *started) join() {
	<-s.writeEnd
	<-s.readEnd
}

// lastAnswer returns when the program answered last, or the given time if that is later.
func (s *started) lastAnswer(asked time.Time) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.latest.After(asked) {
		return s.mu.latest
	}
	return asked
}

// bufferBytes is the buffer of each direction.
const bufferBytes = 64 << 10

// write writes frames. It flushes when no page waits.
func (s *started) write() {
	defer close(s.writeEnd)
	w := bufio.NewWriterSize(s.program, bufferBytes)
	var head []byte
	for {
		var q *question
		var isOpen bool
		select {
		case q, isOpen = <-s.questions:
		case <-s.ended:
			return
		default:
			if err := w.Flush(); err != nil {
				s.onFail(s, failed, fmt.Errorf("it does not read: %w", err))
				return
			}
			select {
			case q, isOpen = <-s.questions:
			case <-s.ended:
				return
			}
		}
		if !isOpen {
			if w.Flush() == nil {
				s.program.CloseInput()
			}
			return
		}
		s.mu.Lock()
		s.mu.open[q.id] = q
		s.mu.Unlock()
		var err error
		if head, err = appendHead(head[:0], q.head, len(q.body)); err == nil {
			_, err = w.Write(head)
		}
		if err == nil {
			_, err = w.Write(q.body)
		}
		close(q.written)
		if err != nil {
			s.onFail(s, failed, fmt.Errorf("it does not read: %w", err))
			return
		}
	}
}

// read gives each answer to its question.
func (s *started) read() {
	defer close(s.readEnd)
	r := bufio.NewReaderSize(s.program, bufferBytes)
	for {
		a, err := readAnswer(r)
		if errors.Is(err, io.EOF) {
			err = errors.New("it has ended, or has closed its output")
		}
		if err != nil {
			s.onFail(s, failed, err)
			return
		}
		s.mu.Lock()
		q := s.mu.open[a.ID]
		delete(s.mu.open, a.ID)
		if q != nil {
			s.mu.latest = time.Now()
		}
		s.mu.Unlock()
		if q == nil {
			s.onFail(s, failed, fmt.Errorf("an answer has the id %d, and no page that waits has it", a.ID))
			return
		}
		q.answer <- &a
	}
}
