package engine

import (
	"bytes"
	"context"
	"fmt"

	"orbweaver/engine/outbox"
	"orbweaver/engine/urlx"
)

// What an item of a letter is, by its first byte. Its bytes follow.
const letterLink byte = 'L' // a URL, as an Item that has it whole

// Letter takes what another agent sends: it passes the same door as what a page says. It returns when that is durable.
func (p *peers) Letter(ctx context.Context, from string, letter []byte) error {
	if err := readLetter(letter); err != nil {
		p.n.refused.Add(1)
		return err
	}
	if err := p.frontier.WaitRoom(ctx); err != nil {
		return err
	}
	end, err := p.receive(letter)
	if err != nil {
		return fmt.Errorf("engine: a letter of %q: %w", from, err)
	}
	p.n.lettersIn.Add(1)
	p.n.bytesIn.Add(int64(len(letter)))
	p.wake()
	return p.ledger.await(ctx, end)
}

// receive notes a letter in the journal and brings what it says to the door, in one step of the cut.
func (p *peers) receive(letter []byte) (end journalEnd, err error) {
	p.ledger.cut.RLock()
	defer p.ledger.cut.RUnlock()
	if !p.open.Load() {
		return end, ErrClosing
	}
	if end, err = p.ledger.tell(&journalEntry{Kind: journalLetter, Links: letter}); err != nil {
		return end, err
	}
	return end, p.unpack(letter)
}

// unpack brings what a letter says to the door.
func (p *peers) unpack(letter []byte) error {
	var d door
	for item, err := range outbox.Items(letter) {
		if err == nil {
			err = p.take(&d, item)
		}
		if err != nil {
			return fmt.Errorf("%w: %w", ErrLetter, err)
		}
	}
	return nil
}

// take brings one item of a letter to the door, which was read before, or written by this agent.
func (p *peers) take(d *door, item []byte) error {
	it, err := linkItem(item)
	if err != nil {
		return err
	}
	p.frontier.Receive(d, it.Rest, it)
	return nil
}

// readLetter says why a letter cannot be read.
func readLetter(letter []byte) error {
	var url []byte
	for item, err := range outbox.Items(letter) {
		if err == nil {
			url, err = checkLink(url[:0], item)
		}
		if err != nil {
			return fmt.Errorf("%w: %w", ErrLetter, err)
		}
	}
	return nil
}

// linkItem reads an item of a letter that is a URL. The Item borrows it.
func linkItem(item []byte) (Item, error) {
	if len(item) == 0 || item[0] != letterLink {
		return Item{}, fmt.Errorf("an item of a kind that is not known: %.20q", item)
	}
	it, ok := decodeItem(item[1:])
	if !ok || it.RobotsOf != nil {
		return Item{}, fmt.Errorf("no URL: %.200q", item)
	}
	return it, nil
}

// checkLink says what is wrong with an item that another agent sends: its URL must be in normal form. scratch is for that.
func checkLink(scratch, item []byte) ([]byte, error) {
	it, err := linkItem(item)
	if err != nil {
		return scratch, err
	}
	url, err := urlx.Normalize(scratch, it.Rest)
	if err != nil || !bytes.Equal(url, it.Rest) {
		return scratch, fmt.Errorf("a URL that is not in normal form: %.200q", it.Rest)
	}
	return url, nil
}
