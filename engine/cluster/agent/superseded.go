package agent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"

	"orbweaver/engine/capture"
	"orbweaver/engine/cluster/marks"
	"orbweaver/engine/cluster/message"
	"orbweaver/engine/cluster/outbox"
	"orbweaver/engine/cluster/ownership"
	"orbweaver/engine/layout"
	"orbweaver/engine/manifest"
	"orbweaver/warc"
)

// Self-stabilisation (Boldi, Codenotti, Santini, Vigna: UbiCrawler, 2004, sections 6 and 6.1). When the crawl is over,
// and before they go, agents that had hosts on loan look through what they fetched since, and ask who comes before them
// for those hosts now whether they have these pages, too. If so theirs count, and this agent's captures are marked as
// superseded. What is marked is what an audit would mark (engine/audit); what cannot be found out now is left to that.

// lentSince notes from where on in the archive there may be pages that others have as well: after a kill from the last
// cut on, as loans that began since are forgotten.
func (p *agent) lentSince(m *manifest.Manifest) {
	if m.Peers == nil || m.Afresh {
		return
	}
	if p.temporarySince = m.Peers.TemporarySince; p.temporarySince == nil && !m.Clean {
		p.temporarySince = m.Archive
	}
	if p.temporarySince != nil && p.temporarySince.Before(m.From) {
		p.temporarySince = &m.From
	}
}

// lend notes where the archive is when hosts are on loan for the first time. The caller holds the cut.
func (p *agent) lend(c *ownership.View) {
	if c.HasTemporary() && p.temporarySince == nil && p.journal.Writer != nil {
		at := p.journal.Writer.Cut()
		p.temporarySince = &at
	}
}

// supersede marks what is superseded, if anything can be. A failure costs marks, which an audit makes, and nothing
// else.
func (p *agent) supersede(ctx context.Context) {
	if p.recover < 1 || !p.storesAll { // with a store filter, who has a page may have no record of it
		return
	}
	p.journal.Steps.Begin()
	from, end := p.temporarySince, p.journal.Writer.Cut()
	p.journal.Steps.End()
	if from == nil {
		return
	}
	m := &marker{
		peers: p, ctx: ctx, circle: p.views.Load(), from: *from, end: end,
		dir: p.dir + "/" + layout.ArchiveDir, marks: marks.New(p.fs, p.dir),
	}
	m.waiting = make([][]claim, len(m.circle.Agents))
	m.archive = warc.OpenArchive(p.fs, m.dir)
	err := m.all()
	if err == nil {
		err = m.marks.Finish()
	}
	if err = errors.Join(err, m.marks.Abandon(), m.archive.Close()); err != nil {
		p.log.Warn("copies that are superseded could not be marked; orbweaver audit --mark does it", "error", err)
		return
	}
	p.log.Info("copies of pages that other agents have, too, are marked as superseded", "asked", m.asked, "marked",
		m.marked, "unanswered", m.unanswered)
}

// marker looks for the captures of one agent that are superseded.
type marker struct {
	peers     *agent
	ctx       context.Context //nolint:containedctx // one pass's
	circle    *ownership.View
	from, end warc.Cut
	dir       string // of the archive
	archive   *warc.Archive
	marks     *marks.Files
	waiting   [][]claim // to be asked about, by the number of who is asked

	asked, marked, unanswered int
}

// claim is a capture of this agent that may be superseded.
type claim struct {
	line  []byte // of the index
	url   []byte
	at    warc.Position
	ahead []int // who comes before this agent for its host, and is to be asked yet
}

// all looks at all captures since the first loan.
func (m *marker) all() error {
	files, err := warc.Files(m.peers.fs, m.dir)
	if err != nil {
		return fmt.Errorf("engine: %w", err)
	}
	for _, info := range files {
		if info.Serial < m.from.Serial || !(warc.Cut{Serial: info.Serial}).Before(m.end) {
			continue
		}
		if err := m.file(info); err != nil {
			return err
		}
	}
	for left := true; left; { // who says no has others ask the next
		left = false
		for n := range m.waiting {
			if len(m.waiting[n]) > 0 {
				left = true
				if err := m.ask(n); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (m *marker) file(info warc.FileInfo) error {
	if err := m.ctx.Err(); err != nil {
		return fmt.Errorf("engine: %w", err)
	}
	counts := int64(math.MaxInt64)
	if info.Serial == m.end.Serial {
		counts = m.end.Length
	}
	scan := func(info warc.FileInfo) error {
		return warc.ScanIndex(m.peers.fs, m.dir, info, counts, func(line []byte, said *warc.IndexLine) error {
			return m.look(line, said, warc.Position{Serial: info.Serial, Offset: said.Offset})
		})
	}
	err := scan(info)
	if info.Open && errors.Is(err, fs.ErrNotExist) { // finished meanwhile
		if info, err = warc.FindFile(m.peers.fs, m.dir, info.Serial); err == nil {
			err = scan(info)
		}
	}
	return err
}

// look notes a capture, if others come before this agent for its host.
func (m *marker) look(line []byte, said *warc.IndexLine, at warc.Position) error {
	here := warc.Cut{Serial: at.Serial, Length: at.Offset}
	if here.Before(m.from) || !here.Before(m.end) || !capture.MayBeAnswer(said) {
		return nil
	}
	ahead := m.circle.Predecessors(said.URL, m.peers.recover)
	if len(ahead) == 0 {
		return nil
	}
	return m.wait(claim{line: slices.Clone(line), url: slices.Clone(said.URL), at: at, ahead: ahead})
}

// wait has the next agent asked about a capture, when there are enough of them.
func (m *marker) wait(k claim) error {
	n := k.ahead[0]
	k.ahead = k.ahead[1:]
	if m.waiting[n] = append(m.waiting[n], k); len(m.waiting[n]) < recoveryMost {
		return nil
	}
	return m.ask(n)
}

// ask asks one agent whether it has some pages.
func (m *marker) ask(n int) error {
	if err := m.ctx.Err(); err != nil {
		return fmt.Errorf("engine: %w", err)
	}
	all := m.waiting[n]
	m.waiting[n] = nil
	question := []byte{message.QuestionFetched}
	for _, k := range all {
		question = outbox.AppendItem(question, k.url)
	}
	m.asked += len(all)
	m.peers.counters.asked.Add(1)
	answer, err := m.peers.ask(m.ctx, m.circle.Agents[n].ID, question)
	if err != nil || len(answer) != len(all) {
		m.unanswered += len(all)
		return nil //nolint:nilerr // it is counted
	}
	for i, k := range all {
		var err error
		switch {
		case answer[i] == 1:
			err = m.mark(&k, m.circle.Agents[n].ID)
		case len(k.ahead) > 0:
			err = m.wait(k)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// mark marks a capture, unless it is no answer: it stands for nothing then.
func (m *marker) mark(k *claim, by string) error {
	rec, err := m.archive.ReadStart(k.at, warc.BlockMax)
	if err != nil {
		return fmt.Errorf("engine: %w", err)
	}
	if !capture.IsAnswer(rec) {
		return nil
	}
	fresh, err := m.marks.Add(by, k.line)
	if err == nil && fresh {
		m.marked++
		m.peers.counters.superseded.Add(1)
	}
	return err
}
