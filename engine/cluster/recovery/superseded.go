package recovery

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"

	"orbweaver/engine/cluster/message"
	"orbweaver/engine/peering/outbox"
	"orbweaver/engine/peering/ownership"
	"orbweaver/engine/records/capture"
	"orbweaver/engine/state/layout"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
	"orbweaver/warc/cdxj"
)

// QuestionMax is how many URLs are asked about in one question.
const QuestionMax = 1024

// Stabilisation looks for the captures of this agent that are superseded (Boldi, Codenotti, Santini, Vigna: UbiCrawler,
// 2004, sections 6 and 6.1). When the crawl has ended, an agent that was the temporary owner of hosts looks through
// what it fetched since. It asks the agents that come before it for those hosts whether they have these pages, too. If
// so, their captures count, and this agent's are marked as superseded. An audit would mark the same captures
// (engine/check/audit); what cannot be found out now is left to it.
type Stabilisation struct {
	FS        vfs.FS
	Dir       string // of the crawl
	From, End warc.Checkpoint
	View      *ownership.View
	Most      int // agents asked for each page
	Ask       func(ctx context.Context, agent string, question []byte) ([]byte, error)

	archiveDir string
	archive    *warc.Archive
	marks      *MarkFiles
	waiting    [][]claim // to be asked about, by the index of the agent to ask
	done       Superseded
}

// Superseded are the numbers of one Stabilisation.
type Superseded struct {
	Questions  int // that were asked
	Claims     int // pages that other agents were asked about, once for each agent
	Unanswered int // of these
	Marked     int // captures that were not marked before
}

// Run marks what is superseded. It is called once. An error costs marks, which an audit makes, and nothing else.
func (m *Stabilisation) Run(ctx context.Context) (Superseded, error) {
	m.archiveDir = m.Dir + "/" + layout.ArchiveDir
	m.waiting = make([][]claim, len(m.View.Agents))
	m.archive, m.marks = warc.OpenArchive(m.FS, m.archiveDir), NewMarks(m.FS, m.Dir)
	err := m.markAll(ctx)
	if err == nil {
		err = m.marks.Finish()
	}
	return m.done, errors.Join(err, m.marks.Abandon(), m.archive.Close())
}

// claim is a capture of this agent that may be superseded.
type claim struct {
	line  []byte // of the index
	url   []byte
	at    warc.Position
	ahead []int // agents that come before this one for its host, and are still to be asked
}

// markAll looks at all captures from From to End.
func (m *Stabilisation) markAll(ctx context.Context) error {
	files, err := warc.Files(m.FS, m.archiveDir)
	if err != nil {
		return fmt.Errorf("recovery: %w", err)
	}
	for _, info := range files {
		if info.Serial < m.From.Serial || !(warc.Checkpoint{Serial: info.Serial}).Before(m.End) {
			continue
		}
		if err := m.markFile(ctx, info); err != nil {
			return err
		}
	}
	for left := true; left; { // after a "no" the next agent is asked
		left = false
		for n := range m.waiting {
			if len(m.waiting[n]) > 0 {
				left = true
				if err := m.ask(ctx, n); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// markFile looks at the captures of one file.
func (m *Stabilisation) markFile(ctx context.Context, info warc.FileInfo) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("recovery: %w", err)
	}
	counts := int64(math.MaxInt64)
	if info.Serial == m.End.Serial {
		counts = m.End.Length
	}
	scan := func(info warc.FileInfo) error {
		return warc.ScanIndex(m.FS, m.archiveDir, info, counts, func(line []byte, entry *cdxj.Line) error {
			return m.add(ctx, line, entry, warc.Position{Serial: info.Serial, Offset: entry.Offset})
		})
	}
	err := scan(info)
	if info.Open && errors.Is(err, fs.ErrNotExist) { // finished meanwhile
		if info, err = warc.FindFile(m.FS, m.archiveDir, info.Serial); err == nil {
			err = scan(info)
		}
	}
	return err
}

// add has a capture asked about, if other agents come before this one for its host.
func (m *Stabilisation) add(ctx context.Context, line []byte, entry *cdxj.Line, at warc.Position) error {
	here := warc.Checkpoint{Serial: at.Serial, Length: at.Offset}
	if here.Before(m.From) || !here.Before(m.End) || !capture.MayBeAnswer(entry) {
		return nil
	}
	ahead := m.View.Predecessors(entry.URL, m.Most)
	if len(ahead) == 0 {
		return nil
	}
	return m.enqueue(ctx, claim{line: slices.Clone(line), url: slices.Clone(entry.URL), at: at, ahead: ahead})
}

// enqueue has the next agent asked about a capture, when there are enough of them.
func (m *Stabilisation) enqueue(ctx context.Context, k claim) error {
	n := k.ahead[0]
	k.ahead = k.ahead[1:]
	if m.waiting[n] = append(m.waiting[n], k); len(m.waiting[n]) < QuestionMax {
		return nil
	}
	return m.ask(ctx, n)
}

// ask asks one agent whether it has some pages.
func (m *Stabilisation) ask(ctx context.Context, n int) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("recovery: %w", err)
	}
	all := m.waiting[n]
	m.waiting[n] = nil
	question := []byte{message.QuestionFetched}
	for _, k := range all {
		question = outbox.AppendItem(question, k.url)
	}
	m.done.Claims += len(all)
	m.done.Questions++
	answer, err := m.Ask(ctx, m.View.Agents[n].ID, question)
	if err != nil || len(answer) != len(all) {
		m.done.Unanswered += len(all)
		return nil //nolint:nilerr // it is counted
	}
	for i, k := range all {
		var err error
		switch {
		case answer[i] == 1:
			err = m.mark(&k, m.View.Agents[n].ID)
		case len(k.ahead) > 0:
			err = m.enqueue(ctx, k)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// mark marks a capture, unless it is not an answer: then it counts for nothing anyway.
func (m *Stabilisation) mark(k *claim, by string) error {
	isAnswer := false
	rec, err := m.archive.ReadStart(k.at, warc.StartMost)
	if err == nil {
		isAnswer, err = capture.IsAnswer(rec)
	}
	if err != nil {
		return fmt.Errorf("recovery: %w", err)
	}
	if !isAnswer {
		return nil
	}
	fresh, err := m.marks.Add(by, k.line)
	if err == nil && fresh {
		m.done.Marked++
	}
	return err
}
