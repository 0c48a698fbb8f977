package changes

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"orbweaver/engine/frontier/admission"
	"orbweaver/engine/frontier/order"
	"orbweaver/engine/net/fetch"
	"orbweaver/engine/net/outage"
	"orbweaver/engine/page/filter"
	"orbweaver/engine/state/limits"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/settings"
	"orbweaver/engine/state/visit"
	"orbweaver/engine/traps"
	"orbweaver/engine/workers/parsers"
	"orbweaver/internal/options"
)

// ErrUnconfirmed says that a change drops queued URLs, and that the operator has not confirmed it.
var ErrUnconfirmed = errors.New(
	"nothing is changed: it would drop queued URLs; confirm it (ctl set --yes, or yes=true)",
)

// ErrNothingToUndo says that no change is left that can be taken back.
var ErrNothingToUndo = errors.New("there is no change to undo")

// Settings are the settings of a running crawl that can be changed. Make them with New. Safe for concurrent use.
type Settings struct {
	Parts

	mu  sync.Mutex
	now values // in force; replaced by each change

	exchanges    settings.ExchangeLimits // in force
	fetchersMost int64                   // fetch workers that there are

	rows []row
	read Read // nil if no setting names a file
}

// values are all settings: of the crawl, and of the program that runs it.
type values struct {
	config Configuration
	own    []any
}

// copied returns a copy, whose settings can be changed.
func (v *values) copied() values {
	c := values{config: options.Copy(v.config)}
	for _, own := range v.own {
		c.own = append(c.own, options.Copy(own))
	}
	return c
}

// find returns a setting; false if there is none.
func (v *values) find(name string) (options.Setting, bool) {
	for _, target := range append([]any{v.config}, v.own...) {
		if s, ok := options.Find(target, name); ok {
			return s, true
		}
	}
	return options.Setting{}, false
}

// get returns the setting of a row.
func (v *values) get(name string) options.Setting {
	s, ok := v.find(name)
	if !ok {
		panic("BUG: changes: there is no setting " + name)
	}
	return s
}

// Options are what the program that runs the crawl gives.
type Options struct {
	Config Configuration // at the start
	File   File
	Log    *Log
	Say    *slog.Logger
	Fetch  fetch.Options // at the start
	Own    []Own         // settings of the program
}

// Own are settings of the program that runs the crawl. One with a Name can be changed; for others rows may have a row.
type Own struct {
	Target any                     // pointer to a struct that package options reads
	Name   string                  // of a setting in it; may be empty
	Set    func(v options.Setting) // puts a value of it into force
	Read   Read                    // of the files that settings in it name; nil if none of them does
}

// Read reads the rules of files as one list.
type Read func(files []string) (filter.Rules, error)

// Parts are what Settings change, and use. All must be set.
type Parts struct {
	Options

	HasVia bool // the crawl keeps which page linked to a URL

	Live      *settings.Live
	Seeds     *filter.Seeds
	Limits    *limits.Limits
	Quotas    *limits.Quotas
	Network   *outage.Network
	Recount   func() error // counts all known sites in Quotas
	Frontier  *admission.Frontier
	Pages     *atomic.Pointer[parsers.Rules]
	Workbench *visit.Workbench
	Queue     Queue
	Traps     *traps.Detector

	Checkpoints interface{ SetPeriod(d time.Duration) }
	Distributor interface {
		Purge()                // gives up what is queued of excluded hosts
		Order() *order.Current // of the crawl
	}
	Wake func() // wakes the loops that feed the fetch workers
}

// Configuration is a pointer to a struct that package options reads, with the settings of the crawl.
type Configuration interface{ Validate() error }

// File keeps settings for a resume: crawl.toml.
type File interface {
	// KeepValues replaces values. A value is a string or a list of strings; nil means that the setting has none.
	KeepValues(values map[string]any) error
}

// NoFile keeps nothing: for a crawl whose program knows its settings.
type NoFile struct{}

// KeepValues implements File.
func (NoFile) KeepValues(map[string]any) error { return nil }

// Queue has the queued URLs.
type Queue interface {
	// EachQueued calls f for queued URLs until ctx ends, and reports whether it was called for all that are at a site.
	// f borrows its arguments.
	EachQueued(ctx context.Context, f func(url []byte, it *queued.URL)) (complete bool, err error)
	// QueuedURLs is the number of all queued URLs.
	QueuedURLs() int64
}

// Request is what an operator wants.
type Request struct {
	By       string   // user or address that wants it
	Why      string   // for the log; may be empty
	Settings []string // NAME=VALUE
	Yes      bool     // also if it drops queued URLs
	DryRun   bool     // check and count only
}

// Result is what became of a Request.
type Result struct {
	Change  int       `json:"change,omitempty"` // number in the log; 0 if nothing has changed
	Undoes  int       `json:"undoes,omitempty"`
	Changed []Changed `json:"changed"` // with DryRun or without confirmation: what would change
	Drops   *Drops    `json:"drops,omitempty"`
}

// Changed is a setting that has another value now.
type Changed struct {
	Name string `json:"name"`
	From string `json:"from"`
	To   string `json:"to"`

	IsRead bool `json:"read_again,omitempty"` // To names a file that was read again
	Rules  int  `json:"rules,omitempty"`      // in it
}

// Drops says which queued URLs a change drops. It looks at as many as the time allows.
type Drops struct {
	Queued   int64    `json:"queued"`           // URLs
	Looked   int64    `json:"looked_at"`        // of these
	Dropped  int64    `json:"dropped"`          // of those that were looked at
	Complete bool     `json:"complete"`         // all URLs that are at their sites were looked at
	Some     []string `json:"some,omitempty"`   // of those that are dropped
	Limit    string   `json:"within,omitempty"` // the time for the count
}

// New returns the settings of a crawl. If rules of admission were changed in an earlier run, queued URLs are checked
// again.
func New(p Parts) *Settings {
	s := &Settings{Parts: p, now: values{config: p.Config}, rows: rows()}
	p.Fetch = p.Fetch.WithDefaults()
	s.Fetch = p.Fetch
	s.exchanges = settings.ExchangeLimits{
		Connect: p.Fetch.DialTimeout, Response: p.Fetch.HeaderTimeout, Exchange: p.Fetch.TotalTimeout,
		Slow: p.Fetch.Long.SlowTimeout, BodyMax: p.Fetch.BodyMax,
	}
	for _, own := range p.Own {
		s.now.own = append(s.now.own, own.Target)
		if own.Read != nil {
			s.read = own.Read
		}
		if own.Name != "" {
			s.rows = append(s.rows, row{name: own.Name, set: later(func(_ *Settings, v options.Setting) { own.Set(v) })})
		}
	}
	s.rows = slices.DeleteFunc(s.rows, func(r row) bool { // settings that another program does not have
		_, ok := s.now.find(r.name)
		return !ok
	})
	if p.Log.Damaged > 0 {
		p.Say.Warn("lines of the log of changes cannot be read; changes in them cannot be undone", "lines", p.Log.Damaged)
	}
	fetchers := s.now.get("fetchers")
	s.fetchersMost = fetchers.Value.Int()
	fetchers.Value.SetInt(int64(p.Network.Workers()))
	for _, r := range s.rows {
		if r.decidesAdmission && p.Log.IsChanged(r.name) {
			s.checkAgain()
		}
	}
	return s
}

// checkAgain has queued URLs checked before their request.
func (s *Settings) checkAgain() {
	check := settings.AdmissionCheck(func(url []byte, it *queued.URL) bool {
		return s.Frontier.RulesInForce().KeepsQueued(url, it)
	})
	s.Live.Admits.Store(&check)
}

// Config returns the configuration in force. It must not be changed.
func (s *Settings) Config() Configuration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now.config
}

// List lists the settings that can be changed.
type List struct {
	Settings []Setting `json:"settings"`
	Changes  []Entry   `json:"changes"` // the last ones
}

// Setting is a setting that can be changed.
type Setting struct {
	Name    string `json:"name"`
	Value   string `json:"value"`
	Default string `json:"default"`
	Help    string `json:"help"`
	Words   string `json:"words,omitempty"` // that it takes, with commas
	IsFile  bool   `json:"file,omitempty"`  // the value names a file, which is read again by the same value
}

// Listed is how many changes are listed.
const Listed = 100

// List returns all settings with their values, in the order of their names.
func (s *Settings) List() List {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := List{Settings: []Setting{}, Changes: s.Log.Last(Listed)}
	for _, r := range s.rows {
		v := s.now.get(r.name)
		list.Settings = append(list.Settings, Setting{
			Name: r.name, Value: v.Text(), Default: v.Tag.Get("default"), Help: v.Tag.Get("help"), Words: v.Tag.Get("oneof"),
			IsFile: r.isFile && (r.noFile == "" || strings.TrimSpace(v.Text()) != r.noFile),
		})
	}
	slices.SortFunc(list.Settings, func(a, b Setting) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// Change changes settings: all or, after an error, none. The error joins all faults. It wraps ErrUnconfirmed if queued
// URLs would be dropped.
func (s *Settings) Change(ctx context.Context, r Request) (Result, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.change(ctx, &r, 0)
}

// Undo takes the last change back that is not taken back yet. Request.Settings has no meaning.
func (s *Settings) Undo(ctx context.Context, r Request) (Result, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	entries := s.Log.undoable()
	if len(entries) == 0 {
		return Result{Changed: []Changed{}}, ErrNothingToUndo
	}
	r.Settings = nil
	for _, e := range entries {
		r.Settings = append(r.Settings, e.Setting+"="+e.From)
	}
	return s.change(ctx, &r, entries[0].Change)
}

func (s *Settings) change(ctx context.Context, r *Request, undoes int) (Result, error) {
	result := Result{Changed: []Changed{}, Undoes: undoes}
	d, err := s.draft(r.Settings)
	if err != nil {
		return result, err
	}
	for _, name := range d.names {
		c := Changed{Name: name, From: s.now.get(name).Text(), To: d.values.get(name).Text()}
		c.Rules, c.IsRead = d.reads[name]
		if c.From != c.To || undoes > 0 || c.IsRead { // what takes a change back has all of its settings in the log
			result.Changed = append(result.Changed, c)
		}
	}
	if len(result.Changed) == 0 {
		return result, nil
	}
	if d.canDrop {
		if result.Drops, err = s.count(ctx, d); err != nil {
			return result, err
		}
		if !r.Yes && !r.DryRun && (result.Drops.Dropped > 0 || !result.Drops.Complete) {
			return result, ErrUnconfirmed
		}
	}
	if r.DryRun {
		return result, nil
	}
	if result.Change, err = s.writeDown(r, &result, d); err != nil {
		result.Change = 0
		return result, err
	}
	s.now = d.values
	d.apply(s)
	for _, c := range result.Changed {
		s.Say.Info("setting changed", "setting", c.Name, "from", shown(c.From), "to", shown(c.To), "by", r.By,
			"change", result.Change)
	}
	return result, nil
}

// shown is a value in a line of the log on the terminal.
func shown(value string) string { return fmt.Sprintf("%.2000s", value) }

// writeDown writes a change down: first into the log, then into the file.
func (s *Settings) writeDown(r *Request, result *Result, d *draft) (number int, err error) {
	entries := make([]Entry, 0, len(result.Changed))
	values := map[string]any{}
	for _, c := range result.Changed {
		entries = append(entries, Entry{
			Time: time.Now().UTC().Truncate(time.Millisecond), By: r.By, Why: r.Why, Setting: c.Name, From: c.From, To: c.To,
			Undoes: result.Undoes,
		})
		values[c.Name] = c.To
		if v := d.values.get(c.Name); v.IsList() {
			values[c.Name] = v.Strings()
		}
		if c.To == "" {
			values[c.Name] = nil
		}
	}
	if number, err = s.Log.append(entries); err != nil {
		return 0, err
	}
	if err = s.File.KeepValues(values); err == nil {
		return number, nil
	}
	for i := range entries {
		e := &entries[i]
		e.From, e.To, e.Undoes, e.By, e.Why = e.To, e.From, number, "orbweaver", "the settings could not be kept"
	}
	_, lerr := s.Log.append(entries)
	return 0, errors.Join(fmt.Errorf("nothing is changed, since the settings cannot be kept: %w", err), lerr)
}

const (
	countTime  = 2 * time.Second // of one count
	examplesOf = 5               // URLs that are named
)

// count counts the queued URLs that a draft drops.
func (s *Settings) count(ctx context.Context, d *draft) (*Drops, error) {
	limited, cancel := context.WithTimeout(ctx, countTime)
	defer cancel()
	drops := &Drops{Queued: s.Queue.QueuedURLs()}
	complete, err := s.Queue.EachQueued(limited, func(url []byte, it *queued.URL) {
		drops.Looked++
		if d.keeps(url, it) || !s.Live.Passes(url, it) {
			return
		}
		if drops.Dropped++; len(drops.Some) < examplesOf {
			drops.Some = append(drops.Some, string(url))
		}
	})
	if drops.Complete = complete; !complete {
		drops.Limit = countTime.String()
	}
	if limited.Err() != nil && ctx.Err() == nil {
		err = nil // the time for the count is over
	}
	return drops, err
}
