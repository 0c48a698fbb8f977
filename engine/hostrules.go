package engine

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"

	"orbweaver/engine/filter"
	"orbweaver/engine/urlx"
	"orbweaver/internal/vfs"
)

// hostRules are the rules of single hosts: those of the crawl's configuration, and those that the operator gave while it
// runs, which stand in a file of the crawl directory and win over others that are as narrow. Without any a look-up is one
// load. Safe for concurrent use.
type hostRules struct {
	fixed *filter.HostRules // of the configuration; may be nil
	live  atomic.Pointer[filter.HostRules]
	some  atomic.Bool // there are rules

	mu  sync.Mutex // of who changes them
	fs  vfs.FS
	dir string // frontier/
	say *slog.Logger
}

func hostRulesName(dir string) string { return dir + "/host-rules" }

// openHostRules brings back what was said in earlier runs.
func openHostRules(fsys vfs.FS, dir string, fixed *filter.HostRules, say *slog.Logger) (*hostRules, error) {
	h := &hostRules{fixed: fixed, fs: fsys, dir: dir, say: say}
	_, live, err := ReadHostRules(fsys, dir)
	if err != nil {
		return nil, err
	}
	h.put(live)
	if live.Ranges() {
		say.Warn(rangesFit)
	}
	return h, nil
}

// rangesFit says what a rule such as 192.0.2.0/24 does not do. A former version took it; it cannot be given any more.
const rangesFit = "host rules for a range of addresses, given in an earlier run, fit only URLs whose host is an address and not the names that resolve into it"

// ReadHostRules reads the rules that the operator gave while the crawl ran; nil if there are none.
func ReadHostRules(fsys vfs.FS, dir string) (filter.Rules, *filter.HostRules, error) {
	name := hostRulesName(dir)
	f, err := fsys.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return filter.Rules{}, nil, nil
	}
	if err != nil {
		return filter.Rules{}, nil, fmt.Errorf("engine: host rules: %w", err)
	}
	defer f.Close()
	from, err := filter.ReadRules(name, f)
	if err != nil {
		return from, nil, fmt.Errorf("engine: host rules: %w", err)
	}
	live, err := filter.CompileKeptHostRules(from)
	if err != nil {
		return from, nil, fmt.Errorf("engine: host rules: %w", err)
	}
	return from, live, nil
}

func (h *hostRules) put(live *filter.HostRules) {
	h.live.Store(live)
	h.some.Store(h.fixed.Len() > 0 || live.Len() > 0)
}

// terms is what the rules say of the host of a site or URL in normal form (borrowed).
func (h *hostRules) terms(url []byte) (t filter.HostTerms) {
	if h == nil || !h.some.Load() {
		return t
	}
	host := urlx.Host(url)
	h.fixed.Find(host, &t)
	h.live.Load().Find(host, &t)
	return t
}

// excludes says that nothing is to be asked of the host of a site or URL.
func (h *hostRules) excludes(url []byte) bool {
	if h == nil || !h.some.Load() {
		return false
	}
	t := h.terms(url)
	return t.Exclude
}

// excludesAny says that some rule excludes something.
func (h *hostRules) excludesAny() bool { return h.fixed.Excludes() || h.live.Load().Excludes() }

// delays says that some rule has a delay.
func (h *hostRules) delays() bool { return h.fixed.Delays() || h.live.Load().Delays() }

// add takes rules, in force at once, and writes them down. Those that are none are joined in the error, as is a disk that does not
// take them: then they are in force until the crawl ends.
func (h *hostRules) add(texts []string) (taken int, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	grown, taken, err := h.live.Load().With(texts...)
	if taken == 0 {
		return 0, err
	}
	h.put(grown)
	h.say.Info("host rules taken", "rules", fmt.Sprintf("%.2000q", texts), "taken", taken)
	werr := writeHostRules(h.fs, h.dir, grown)
	if werr != nil {
		werr = fmt.Errorf("they are in force, and lost when the crawl ends: %w", werr)
	}
	return taken, errors.Join(err, werr)
}

func writeHostRules(fsys vfs.FS, dir string, rules *filter.HostRules) error {
	err := vfs.WriteAtomic(fsys, hostRulesName(dir), func(w io.Writer) error {
		_, err := io.WriteString(w, strings.Join(rules.Texts(), "\n")+"\n")
		return err
	})
	if err != nil {
		return fmt.Errorf("engine: host rules: %w", err)
	}
	return nil
}

// list gives all rules, those of the operator first.
func (h *hostRules) list() (live, fixed []string) { return h.live.Load().Texts(), h.fixed.Texts() }
