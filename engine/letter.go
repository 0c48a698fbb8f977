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
	if err := p.standings.hear(from); err != nil {
		return err
	}
	if err := readLetter(letter); err != nil {
		p.n.refused.Add(1)
		return p.standings.garbled(from, err)
	}
	back, err := p.standings.charge(from, letter)
	if err != nil {
		return err
	}
	if err := p.frontier.WaitRoom(ctx); err != nil {
		back()
		return err
	}
	end, err := p.receive(letter)
	if err != nil {
		back()
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

// take brings one item of a letter to the door.
func (p *peers) take(d *door, item []byte) error {
	it, err := readLink(item)
	if err != nil {
		return err
	}
	p.frontier.Receive(d, it.Rest, it)
	return nil
}

// readLetter says why a letter cannot be read.
func readLetter(letter []byte) error {
	for item, err := range outbox.Items(letter) {
		if err == nil {
			_, err = readLink(item)
		}
		if err != nil {
			return fmt.Errorf("%w: %w", ErrLetter, err)
		}
	}
	return nil
}

// readLink reads an item of a letter that is a URL, in normal form. The Item borrows it.
func readLink(item []byte) (Item, error) {
	if len(item) == 0 || item[0] != letterLink {
		return Item{}, fmt.Errorf("an item of a kind that is not known: %.20q", item)
	}
	it, ok := decodeItem(item[1:])
	if !ok || it.RobotsOf != nil {
		return Item{}, fmt.Errorf("no URL: %.200q", item)
	}
	url, err := urlx.Normalize(nil, it.Rest)
	if err != nil || !bytes.Equal(url, it.Rest) {
		return Item{}, fmt.Errorf("a URL that is not in normal form: %.200q", it.Rest)
	}
	if len(it.Way) > wayMax || !letters(it.Way) {
		return Item{}, fmt.Errorf("a way that is none: %.200q", it.Way)
	}
	if len(it.Via) > 0 { // it will stand in a record
		if url, err = urlx.Normalize(url[:0], it.Via); err != nil || !bytes.Equal(url, it.Via) {
			return Item{}, fmt.Errorf("a page that is not in normal form: %.200q", it.Via)
		}
	}
	return it, nil
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
