package faultfs

import (
	"path"
	"sync"
	"time"
)

// Op is a kind of call.
type Op uint8

// The kinds of calls. Open stands for Create, Open and OpenRW; Read and Write for both their forms.
const (
	Any Op = iota
	Open
	Close
	Read
	Write
	Sync
	Truncate
	Allocate
	Map
	MapSync
	Rename
	Remove
	Mkdir
	List
	Size
	SyncDir
	Lock
	Free
	// Create stands for the calls of Open that make a file, or empty it.
	Create
	// Space stands for every call that may need room on the disk: Create, OpenRW, Write, Allocate, Mkdir and Rename.
	Space
)

// takesSpace says whether Space stands for a kind of call. Open does too, when it may make a file.
func (op Op) takesSpace() bool { return op == Write || op == Allocate || op == Mkdir || op == Rename }

// means says whether a rule for op is about a call.
func (op Op) means(call Op, space bool) bool {
	switch op {
	case Any, call:
		return true
	case Space:
		return space
	case Create:
		return call == Open && space
	default:
		return false
	}
}

// Rule is one scripted fault.
type Rule struct {
	// Op is the kind of call that is meant; Any is each of them.
	Op Op
	// Name is a path.Match pattern that the whole name or its last element must match. Empty matches all. A rename is
	// matched by its old name.
	Name string
	// From is the first matching call that is meant, counted from 1; 0 is 1.
	From int
	// Count is how many calls are meant from there; 0 is all.
	Count int
	// Err is what the call returns. With nil the call goes through, after Delay.
	Err error
	// Short is how many bytes a failing Write writes before it fails.
	Short int
	// Delay is waited before the call, in the time of the bubble if there is one.
	Delay time.Duration
	// Then, if there is one, is called before the call is answered, each time the rule decides: what breaks once may
	// break more from there on. It may change the script.
	Then func(name string)
}

// Script is a list of rules and their counters. The first rule that means a call decides it; all that match count it.
// Safe for concurrent use; rules may be added and removed while the FS is in use.
type Script struct {
	mu    sync.Mutex
	rules []*counted
	calls map[Op]int
	free  *int64
	watch func(op Op, space bool, name string)
}

type counted struct {
	Rule
	seen int
}

// NewScript returns a script of the rules.
func NewScript(rules ...Rule) *Script {
	s := &Script{calls: map[Op]int{}}
	for _, r := range rules {
		s.Add(r)
	}
	return s
}

// Add appends a rule, whose count starts now.
func (s *Script) Add(r Rule) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rules = append(s.rules, &counted{Rule: r})
}

// Clear removes all rules and what SetFree said: the disk is well again.
func (s *Script) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rules, s.free = nil, nil
}

// Watch has f called for every call, under the script's lock, before it is answered; space says whether Space stands
// for it.
func (s *Script) Watch(f func(op Op, space bool, name string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watch = f
}

// SetFree makes the disk say, when it is asked, that so many bytes are free.
func (s *Script) SetFree(bytes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free = &bytes
}

func (s *Script) freeBytes() (int64, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.free == nil {
		return 0, false
	}
	return *s.free, true
}

// Calls returns how many calls of a kind were made; Any gives their sum.
func (s *Script) Calls(op Op) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[op]
}

// meetCall counts a call, waits if it must be late, and returns its error and how much of a write happens before it.
func (s *Script) meetCall(op Op, space bool, name string) (short int, err error) {
	rule := s.match(op, space, name)
	if rule.Then != nil {
		rule.Then(name)
	}
	if rule.Delay > 0 {
		<-time.After(rule.Delay)
	}
	return rule.Short, rule.Err
}

func (s *Script) match(op Op, space bool, name string) (found Rule) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.watch != nil {
		s.watch(op, space, name)
	}
	s.calls[op]++
	s.calls[Any]++
	if space {
		s.calls[Space]++
	}
	hit := false
	for _, r := range s.rules {
		if !r.Op.means(op, space) || !matches(r.Name, name) {
			continue
		}
		r.seen++
		first := max(1, r.From)
		if !hit && r.seen >= first && (r.Count == 0 || r.seen < first+r.Count) {
			found, hit = r.Rule, true
		}
	}
	return found
}

func matches(pattern, name string) bool {
	if pattern == "" {
		return true
	}
	whole, err := path.Match(pattern, name)
	if err != nil {
		panic("BUG: bad pattern in a fault script: " + pattern)
	}
	base, _ := path.Match(pattern, path.Base(name))
	return whole || base
}
