package filter

import (
	"sync"
	"sync/atomic"

	"github.com/expr-lang/expr/vm"
)

// Facts are what is known of a page when it is decided whether to keep it. The strings are borrowed for the call.
type Facts struct {
	URL         string `expr:"url"`          // normal form
	Site        string `expr:"site"`         // scheme://host[:port]
	Host        string `expr:"host"`         // without port
	Path        string `expr:"path"`         // path, and query where there is one
	Depth       int    `expr:"depth"`        // links from a seed
	Status      int    `expr:"status"`       // HTTP status
	ContentType string `expr:"content_type"` // media type in lower case, without parameters
	Size        int64  `expr:"size"`         // bytes of the body as kept
	Via         string `expr:"via"`          // URL of the page that linked here, "" for seeds
	Seed        bool   `expr:"seed"`
	Kind        string `expr:"kind"`      // what the link was: anchor, image, ... or "" when unknown
	Truncated   bool   `expr:"truncated"` // the body was cut by a limit
	Duplicate   bool   `expr:"duplicate"` // the payload was seen before
}

// Store says which pages are kept. It is safe for concurrent use.
type Store struct {
	text    string
	answer  bool // when there is no program
	program *vm.Program
	machine sync.Pool // *vm.VM
	errors  atomic.Uint64
}

// CompileStore compiles "all" (or nothing), "none" or an expression.
func CompileStore(text string) (*Store, error) {
	f := &Store{text: text}
	switch text {
	case "", "all":
		f.text, f.answer = "all", true
	case "none":
	default:
		var err error
		if f.program, err = compile(text, &Facts{}); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// String gives the text that the Store was compiled from.
func (f *Store) String() string { return f.text }

// Errors counts the evaluations that failed and were answered with yes.
func (f *Store) Errors() uint64 { return f.errors.Load() }

// Constant says whether the answer is the same for every page, and which. Callers may then save themselves the Facts.
func (f *Store) Constant() (answer, constant bool) { return f.answer, f.program == nil }

// Keeps says whether the page is to be kept. It borrows facts.
func (f *Store) Keeps(facts *Facts) bool {
	if f.program == nil {
		return f.answer
	}
	machine, _ := f.machine.Get().(*vm.VM)
	if machine == nil {
		machine = new(vm.VM)
	}
	defer f.machine.Put(machine)
	yes, err := runBool(machine, f.program, facts)
	if err != nil {
		f.errors.Add(1)
		return true
	}
	return yes
}
