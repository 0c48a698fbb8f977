package settings

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"orbweaver/engine/net/politeness"
	"orbweaver/engine/page/filter"
	"orbweaver/internal/urlx"
	"orbweaver/internal/vfs"
)

// HostRules are the rules of single hosts: those of the crawl's configuration, and those that the operator gave while
// it runs, which stand in a file of the crawl directory and win over others that are as narrow. Without any a look-up
// is one load. Safe for concurrent use.
type HostRules struct {
	mu    sync.RWMutex     // guards fixed and live; they change only while changes is held too
	fixed filter.HostRules // of the configuration; never grown
	live  filter.HostRules // that the operator or a program gave
	some  atomic.Bool      // there are rules

	groups atomic.Pointer[map[netip.Addr]Group] // by their address keys

	changes   sync.Mutex // held while rules change and while they are written
	unwritten bool       // guarded by changes: rules of AddAnswer are not in the file
	Fs        vfs.FS
	Dir       string // frontier/
	Say       *slog.Logger
}

// HostRulesName is the file of the rules in the frontier directory.
func HostRulesName(dir string) string { return dir + "/host-rules" }

// OpenHostRules brings back what was said in earlier runs.
func OpenHostRules(fsys vfs.FS, dir string, fixed *filter.HostRules, say *slog.Logger) (*HostRules, error) {
	h := &HostRules{Fs: fsys, Dir: dir, Say: say}
	if fixed != nil {
		h.fixed = *fixed
	}
	_, live, err := ReadHostRules(fsys, dir)
	if err != nil {
		return nil, err
	}
	h.live = *live
	h.noteChange()
	for _, line := range h.RobotsIgnored() {
		say.Warn("robots.txt is ignored, by a host rule", "hosts", line)
	}
	if live.Ranges() {
		say.Warn(RangesFit)
	}
	return h, nil
}

// RangesFit says what a rule such as 192.0.2.0/24 does not do. A former version took it; it cannot be given any more.
const RangesFit = "host rules for a range of addresses, given in an earlier run, fit only URLs whose host is an " +
	"address and not the names that resolve into it"

// ReadHostRules reads the rules that the operator gave while the crawl ran; empty if there are none.
func ReadHostRules(fsys vfs.FS, dir string) (filter.Rules, *filter.HostRules, error) {
	name := HostRulesName(dir)
	f, err := fsys.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return filter.Rules{}, new(filter.HostRules), nil
	}
	if err != nil {
		return filter.Rules{}, nil, fmt.Errorf("settings: host rules: %w", err)
	}
	defer f.Close()
	from, err := filter.ReadRules(name, f)
	if err != nil {
		return from, nil, fmt.Errorf("settings: host rules: %w", err)
	}
	live, err := filter.CompileKeptHostRules(from)
	if err != nil {
		return from, nil, fmt.Errorf("settings: host rules: %w", err)
	}
	return from, live, nil
}

// noteChange brings what depends on the rules up to date. The caller holds changes.
func (h *HostRules) noteChange() {
	h.some.Store(h.fixed.Len() > 0 || h.live.Len() > 0)
	delays := map[string]time.Duration{}
	h.fixed.AddGroups(delays)
	h.live.AddGroups(delays)
	groups := make(map[netip.Addr]Group, len(delays))
	for name, delay := range delays {
		groups[politeness.GroupKey(name)] = Group{Name: name, Delay: delay}
	}
	h.groups.Store(&groups)
}

// Configure replaces the rules of the configuration, in force at once. The archive states which rules ignore
// robots.txt, so there may be no new ones of these.
func (h *HostRules) Configure(rules *filter.HostRules) {
	h.changes.Lock()
	defer h.changes.Unlock()
	h.mu.Lock()
	h.fixed = *rules
	h.mu.Unlock()
	h.noteChange()
}

// Terms is what the rules say of the host of a site or URL in normal form (borrowed).
func (h *HostRules) Terms(url []byte) (t filter.HostSettings) {
	if !h.some.Load() {
		return t
	}
	h.mu.RLock()
	defer h.mu.RUnlock()
	h.find(urlx.Host(url), &t)
	return t
}

func (h *HostRules) find(host []byte, t *filter.HostSettings) {
	h.fixed.Find(host, t)
	h.live.Find(host, t)
}

// Group is a group of hosts that share a delay.
type Group struct {
	Name  string        // "" for none
	Delay time.Duration // between two requests; the longest of its rules
}

// Groups returns the groups of hosts by their address keys. It must not be changed.
func (h *HostRules) Groups() map[netip.Addr]Group {
	if groups := h.groups.Load(); groups != nil {
		return *groups
	}
	return nil // of a HostRules that was not opened
}

// LongestDelay returns the longest delay of a policy and of all groups.
func (h *HostRules) LongestDelay(p *politeness.Policy) time.Duration {
	longest := max(p.HostDelay, p.IPDelay)
	for _, g := range h.Groups() {
		longest = max(longest, g.Delay)
	}
	return longest
}

// GroupAt returns the group of hosts that an address belongs to; "" for none.
func (h *HostRules) GroupAt(addr netip.Addr) string {
	var t filter.HostSettings
	h.mu.RLock()
	defer h.mu.RUnlock()
	h.fixed.FindAddr(addr, &t)
	h.live.FindAddr(addr, &t)
	return t.Group
}

// Excludes says that no request may go to the host of a site or URL.
func (h *HostRules) Excludes(url []byte) bool {
	if !h.some.Load() {
		return false
	}
	t := h.Terms(url)
	return t.Exclude
}

// ExcludesAny says that some rule excludes something.
func (h *HostRules) ExcludesAny() bool {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.fixed.Excludes() || h.live.Excludes()
}

// Delays says that some rule has a delay.
func (h *HostRules) Delays() bool {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.fixed.Delays() || h.live.Delays()
}

// RobotsIgnored returns the hosts whose robots.txt forbids nothing, each with the reason.
func (h *HostRules) RobotsIgnored() []string {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return append(h.fixed.RobotsIgnored(), h.live.RobotsIgnored()...)
}

// Add takes rules, in force at once, and writes them down. Those that are none are joined in the error, as is a disk
// that does not take them: then they are in force until the crawl ends.
func (h *HostRules) Add(texts []string) (taken int, err error) {
	h.changes.Lock()
	defer h.changes.Unlock()
	for _, text := range texts { // one by one: a hundred thousand would hold all readers for half a second
		h.mu.Lock()
		n, fault := h.live.Grow(text)
		h.mu.Unlock()
		taken, err = taken+n, errors.Join(err, fault)
	}
	if taken == 0 {
		return 0, err
	}
	h.noteChange()
	h.Say.Info("host rules taken", "rules", fmt.Sprintf("%.2000s", strings.Join(texts, "; ")), "taken", taken)
	werr := WriteHostRules(h.Fs, h.Dir, &h.live)
	if werr != nil {
		werr = fmt.Errorf("they are in force, and lost when the crawl ends: %w", werr)
	}
	return taken, errors.Join(err, werr)
}

// AddAnswer takes the rule that a program of --hook has given for one host, in force at once, and reports whether it
// did. It has no effect on the disk: the rule is in a journal entry until Flush. It does not exclude a host that
// another rule allows: the operator has decided about it. Its cost does not depend on how many rules there are.
func (h *HostRules) AddAnswer(rule string) bool {
	var one filter.HostRules
	if taken, err := one.Grow(rule); taken == 0 || err != nil {
		return false
	}
	h.changes.Lock()
	defer h.changes.Unlock()
	host, _, _ := strings.Cut(rule, " ")
	var before filter.HostSettings
	h.find([]byte(host), &before)
	after := before
	one.Find([]byte(host), &after)
	if after.Exclude && before.Allows() {
		return false
	}
	h.mu.Lock()
	_, _ = h.live.Grow(rule) // it has been read without a fault
	h.mu.Unlock()
	h.some.Store(true)
	h.unwritten = true
	return true
}

// Flush writes the rules of AddAnswer down.
func (h *HostRules) Flush() error {
	h.changes.Lock()
	defer h.changes.Unlock()
	if !h.unwritten {
		return nil
	}
	if err := WriteHostRules(h.Fs, h.Dir, &h.live); err != nil {
		return err
	}
	h.unwritten = false
	return nil
}

// WriteHostRules replaces the file of the rules.
func WriteHostRules(fsys vfs.FS, dir string, rules *filter.HostRules) error {
	err := vfs.WriteAtomic(fsys, HostRulesName(dir), func(w io.Writer) error {
		_, err := io.WriteString(w, strings.Join(rules.Texts(), "\n")+"\n")
		return err
	})
	if err != nil {
		return fmt.Errorf("settings: host rules: %w", err)
	}
	return nil
}

// List gives all rules, those of the operator first.
func (h *HostRules) List() (live, fixed []string) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.live.Texts(), h.fixed.Texts()
}
