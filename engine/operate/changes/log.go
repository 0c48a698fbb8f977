package changes

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"time"

	"orbweaver/engine/state/layout"
	"orbweaver/internal/plural"
	"orbweaver/internal/vfs"
)

// FileName is the name of the log of changes in the directory of logs.
const FileName = "changes.log"

// Entry is a line of the log: one setting in one change.
type Entry struct {
	Change  int       `json:"change"` // number of the change, from 1; one change may have several settings
	Time    time.Time `json:"time"`
	By      string    `json:"by"`            // a user of this machine, or an address
	Why     string    `json:"why,omitempty"` // as the operator says
	Setting string    `json:"setting"`
	From    string    `json:"from"`
	To      string    `json:"to"`
	Undoes  int       `json:"undoes,omitempty"` // number of the change that this one takes back; 0 for none
}

const (
	keptMost  = 10_000   // entries in memory: the last ones
	keptBytes = 64 << 20 // of their texts
	// lineMost is how many bytes a line may have, for what writes and what reads it: a request of 1 MiB fits with a former
	// value of that length, each byte as six.
	lineMost = 16 << 20
)

// Log is the log of changes. It has one user at a time.
type Log struct {
	fs   vfs.FS
	name string

	last    []Entry // the last ones
	bytes   int     // of their texts
	undone  map[int]bool
	changed map[string]bool // settings that were ever changed
	number  int             // of the last change
	Damaged int             // lines that could not be read
}

// OpenLog reads the log of a crawl directory; there may be none yet. Lines that cannot be read are left out.
func OpenLog(fsys vfs.FS, dir string) (*Log, error) {
	l := &Log{
		fs: fsys, name: dir + "/" + layout.LogsDir + "/" + FileName, undone: map[int]bool{}, changed: map[string]bool{},
	}
	f, err := fsys.Open(l.name)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return nil, fmt.Errorf("changes: log of changes: %w", err)
	}
	defer f.Close()
	if err := l.read(bufio.NewReader(f)); err != nil {
		return nil, fmt.Errorf("changes: log of changes: %w", err)
	}
	return l, nil
}

// read notes all lines. A line that is too long is damaged.
func (l *Log) read(in *bufio.Reader) error {
	var line []byte
	for {
		piece, err := in.ReadSlice('\n')
		line = append(line, piece[:min(len(piece), lineMost+2-len(line))]...)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if len(line) > 0 {
			l.noteLine(bytes.TrimSuffix(line, []byte("\n")))
			line = line[:0]
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (l *Log) noteLine(line []byte) {
	var e Entry
	if err := json.Unmarshal(line, &e); len(line) > lineMost || err != nil || e.Change < 1 || e.Setting == "" {
		l.Damaged++
		return
	}
	l.note(e)
}

// note adds an entry to what is in memory. If it is twice as much as is kept, the oldest entries leave.
func (l *Log) note(e Entry) {
	l.last = append(l.last, e)
	l.bytes += e.size()
	if len(l.last) >= 2*keptMost || l.bytes >= 2*keptBytes {
		drop := 0
		for ; len(l.last)-drop > keptMost || l.bytes > keptBytes; drop++ {
			l.bytes -= l.last[drop].size()
		}
		l.last = slices.Delete(l.last, 0, drop)
	}
	l.changed[e.Setting] = true
	l.number = max(l.number, e.Change)
	if e.Undoes > 0 {
		l.undone[e.Undoes] = true
	}
}

// size is how many bytes the texts of an entry take.
func (e *Entry) size() int { return len(e.By) + len(e.Why) + len(e.Setting) + len(e.From) + len(e.To) }

// IsChanged reports whether any of some settings was ever changed while the crawl ran.
func (l *Log) IsChanged(settings ...string) bool {
	return slices.ContainsFunc(settings, func(name string) bool { return l.changed[name] })
}

// LargestOf returns the largest value that a number has had, as far as the log is in memory, and at least least.
func (l *Log) LargestOf(setting string, least int) int {
	for _, e := range l.last {
		for _, text := range []string{e.From, e.To} {
			if n, err := strconv.Atoi(text); err == nil && e.Setting == setting {
				least = max(least, n)
			}
		}
	}
	return least
}

// Last returns up to most entries, the last one at the end.
func (l *Log) Last(most int) []Entry { return slices.Clone(l.last[max(0, len(l.last)-most):]) }

// undoable returns the entries of the last change that was neither taken back nor takes another one back; nil if there
// is none. A file that was read again has an entry with two equal values, which cannot be taken back.
func (l *Log) undoable() (entries []Entry) {
	for _, e := range slices.Backward(l.last) {
		switch {
		case len(entries) > 0 && e.Change != entries[0].Change:
			return entries
		case e.Undoes == 0 && !l.undone[e.Change] && e.From != e.To:
			entries = append(entries, e)
		}
	}
	return entries
}

// append writes the entries of a change, which get its number, and returns it when they are durable.
func (l *Log) append(entries []Entry) (number int, err error) {
	number = l.number + 1
	var text []byte
	for i := range entries {
		entries[i].Change = number
		line, err := json.Marshal(entries[i])
		if err == nil && len(line) > lineMost {
			err = fmt.Errorf("the line of %s would have %s, at most %s: its values are too long", entries[i].Setting,
				plural.Bytes(int64(len(line))), plural.Bytes(lineMost))
		}
		if err != nil {
			return 0, fmt.Errorf("changes: log of changes: %w", err)
		}
		text = append(append(text, line...), '\n')
	}
	if err := l.write(text); err != nil {
		return 0, fmt.Errorf("changes: log of changes: %w", err)
	}
	for _, e := range entries {
		l.note(e)
	}
	return number, nil
}

func (l *Log) write(text []byte) (err error) {
	f, err := l.fs.OpenRW(l.name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	size, err := f.Size()
	if err != nil {
		return err
	}
	if size > 0 {
		last := []byte{0}
		if _, err := f.ReadAt(last, size-1); err != nil {
			return err
		}
		if last[0] != '\n' { // a kill has left a part of a line
			text = append([]byte{'\n'}, text...)
		}
	}
	if _, err := f.WriteAt(text, size); err != nil {
		return errors.Join(err, f.Truncate(size))
	}
	if err := f.Sync(); err != nil {
		return errors.Join(err, f.Truncate(size))
	}
	if size == 0 {
		return l.fs.SyncDir(l.name[:len(l.name)-len(FileName)-1])
	}
	return nil
}
