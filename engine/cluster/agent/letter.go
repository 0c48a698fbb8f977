package agent

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"orbweaver/engine/admission"
	"orbweaver/engine/cluster"
	"orbweaver/engine/cluster/outbox"
	"orbweaver/engine/journal"
	"orbweaver/engine/queued"
	"orbweaver/engine/site"
	"orbweaver/engine/urlx"
)

// What an item of a letter is, by its first byte. Its bytes follow.
const (
	letterLink    byte = 'L' // a URL, as an Item that has it whole
	letterSite    byte = 'S' // what is known of a site, and what is queued of it: see sitemove.go
	letterHop     byte = 'R' // a hop of a robots.txt's redirects, as an Item that has its URL whole: see robotsletter.go
	letterVerdict byte = 'V' // what came of that
	letterFetched byte = 'F' // URLs that an agent has an answer of that leaves for good: see inherit.go
	letterTold    byte = 'T' // what it told others
)

// postmark says where an item comes from.
type postmark struct {
	from string        // who sent it; empty if that is not known: it is read back from the journal
	aged time.Duration // that may have passed since it came
	told bool          // to an agent that is gone, some time ago: what it says of clocks is not true any more
}

// HandleMessage takes what another agent sends, as far as that one has the authority to say it (authority.go): it passes the
// same door as what a page says. It returns when that is durable.
func (p *agent) HandleMessage(ctx context.Context, from string, letter []byte) error {
	if err := p.checkSender(from); err != nil {
		return err
	}
	if err := p.readLetter(letter); err != nil {
		p.counters.refused.Add(1)
		return p.accounts.NoteMalformed(from, err)
	}
	refund, err := p.accounts.ChargeMessage(from, letter)
	if err != nil {
		return err
	}
	size := len(letter)
	if letter, err = p.permit(from, letter); err != nil || len(letter) == 0 {
		if err != nil {
			refund()
		}
		return err
	}
	if err := p.frontier.WaitRoom(ctx); err != nil {
		refund()
		return err
	}
	end, err := p.receive(from, letter)
	if err != nil {
		refund()
		return fmt.Errorf("engine: a letter of %q: %w", from, err)
	}
	p.counters.lettersIn.Add(1)
	p.counters.bytesIn.Add(int64(size))
	p.wake()
	return p.journal.Await(ctx, end)
}

// receive notes a letter in the journal and brings what it says to the door, in one step of the cut.
func (p *agent) receive(from string, letter []byte) (end journal.Position, err error) {
	p.journal.Steps.Begin()
	defer p.journal.Steps.End()
	if !p.acceptsMessages.Load() {
		return end, cluster.ErrClosing
	}
	if end, err = p.journal.AppendEntry(&journal.Entry{Kind: journal.KindMessage, Links: letter}); err != nil {
		return end, err
	}
	return end, p.unpack(letter, postmark{from: from})
}

// unpack brings what a letter says to the door.
func (p *agent) unpack(letter []byte, m postmark) error {
	var d admission.Scratch
	for item, err := range outbox.Items(letter) {
		if err == nil {
			err = p.take(&d, item, m)
		}
		if err != nil {
			return fmt.Errorf("%w: %w", cluster.ErrMalformed, err)
		}
	}
	return nil
}

// take brings one item of a letter to the door, which was read before, or written by this agent.
func (p *agent) take(d *admission.Scratch, item []byte, m postmark) error {
	switch kindOf(item) {
	case letterSite:
		return p.takeSite(d, item, m)
	case letterHop:
		return p.takeHop(item)
	case letterVerdict:
		return p.takeVerdict(item, m)
	case letterFetched:
		of, fps, err := readInherited(item)
		if err == nil {
			p.fetched.Inherit(of, fps)
		}
		return err
	case letterTold:
		return p.takeTold(item)
	default:
		it, err := linkItem(item)
		if err != nil {
			return err
		}
		p.frontier.Receive(d, it.Rest, it)
		return nil
	}
}

// kindOf is what an item is.
func kindOf(item []byte) byte {
	if len(item) == 0 {
		return 0
	}
	return item[0]
}

// readLetter says why a letter cannot be read.
func (p *agent) readLetter(letter []byte) error {
	var url []byte
	for item, err := range outbox.Items(letter) {
		if err == nil && kindOf(item) == letterLink {
			url, err = checkLink(url[:0], item)
		} else if err == nil {
			err = p.readItem(item)
		}
		if err != nil {
			return fmt.Errorf("%w: %w", cluster.ErrMalformed, err)
		}
	}
	return nil
}

func (p *agent) readItem(item []byte) error {
	switch kindOf(item) {
	case letterFetched:
		_, _, err := readInherited(item)
		return err
	case letterTold:
		_, _, err := p.readTold(item)
		return err
	case letterSite:
		return p.readSite(item)
	case letterHop:
		_, err := readHop(item)
		return err
	case letterVerdict:
		_, err := p.readVerdict(item)
		return err
	default:
		_, err := readLink(item)
		return err
	}
}

func (p *agent) readSite(item []byte) error {
	move, err := readSiteMove(item)
	if err != nil {
		return err
	}
	for _, err := range move.urls() {
		if err != nil {
			return err
		}
	}
	if len(move.state) > 0 {
		_, err = site.Decode(move.state, p.sites.Rules)
	}
	return err
}

// readLink reads an item of a letter that is a URL, in normal form. The Item borrows it.
func readLink(item []byte) (queued.URL, error) {
	if _, err := checkLink(nil, item); err != nil {
		return queued.URL{}, err
	}
	return linkItem(item)
}

// linkItem reads an item of a letter that is a URL. The Item borrows it.
func linkItem(item []byte) (queued.URL, error) {
	if len(item) == 0 || item[0] != letterLink {
		return queued.URL{}, fmt.Errorf("an item of a kind that is not known: %.20q", item)
	}
	it, ok := queued.Decode(item[1:])
	if !ok || it.RobotsOf != nil {
		return queued.URL{}, fmt.Errorf("no URL: %.200q", item)
	}
	return it, nil
}

// checkLink says what is wrong with an item that another agent sends: its URLs must be in normal form. scratch is for
// these.
func checkLink(scratch, item []byte) ([]byte, error) {
	it, err := linkItem(item)
	if err != nil {
		return scratch, err
	}
	url, err := urlx.Normalize(scratch, it.Rest)
	if err != nil || !bytes.Equal(url, it.Rest) {
		return scratch, fmt.Errorf("a URL that is not in normal form: %.200q", it.Rest)
	}
	if len(it.HopPath) > queued.HopPathMax || !letters(it.HopPath) {
		return url, fmt.Errorf("a way that is none: %.200q", it.HopPath)
	}
	if len(it.Via) > 0 { // it will stand in a record
		if url, err = urlx.Normalize(url[:0], it.Via); err != nil || !bytes.Equal(url, it.Via) {
			return scratch, fmt.Errorf("a page that is not in normal form: %.200q", it.Via)
		}
	}
	return url, nil
}

// letters says that a way could be one.
func letters(way []byte) bool {
	for _, c := range way {
		if c != '-' && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return true
}
