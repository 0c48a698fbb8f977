package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"orbweaver/engine/outbox"
)

// send sends a letter. An agent of the former version refuses the letter if there is anything but links in it: then it is sent the links.
func (o *post) send(ctx context.Context, letter []byte) error {
	if isPlain(letter) {
		return o.peers.seam.Send(ctx, o.to, letter)
	}
	if !o.plain.Load() {
		err := o.peers.seam.Send(ctx, o.to, aged(letter, time.Now()))
		if !errors.Is(err, ErrLetter) {
			return err
		}
	}
	parts, hops := plainLetters(letter)
	for _, part := range parts {
		if err := o.peers.seam.Send(ctx, o.to, part); err != nil {
			return err
		}
	}
	if !o.plain.Swap(true) {
		o.peers.say.Warn("another agent is of a former version: it is told of URLs alone, and learns delays and robots.txt anew", "agent", o.to)
	}
	return o.peers.unheard(hops)
}

// isPlain says that a letter has nothing but links.
func isPlain(letter []byte) bool {
	for item, err := range outbox.Items(letter) {
		if err != nil || kindOf(item) != letterLink {
			return false
		}
	}
	return true
}

// plainBytes is about how long a letter of links is.
const plainBytes = 128 << 10

// plainLetters are the links of a letter of our own, in letters for an agent that knows nothing else. Hops are those that it was to fetch.
func plainLetters(letter []byte) (parts [][]byte, hops []Item) {
	var part []byte
	add := func(item []byte) {
		if part = outbox.AppendItem(part, item); len(part) >= plainBytes {
			parts, part = append(parts, part), nil
		}
	}
	for item, err := range outbox.Items(letter) {
		switch kindOf(item) {
		case letterLink:
			add(item)
		case letterHop:
			var hop Item
			if hop, err = readHop(item); err == nil {
				hops = append(hops, hop)
			}
		case letterSite:
			var move siteMove
			move, err = readSiteMove(item)
			for it, bad := range move.urls() {
				if err = errors.Join(err, bad); err == nil {
					add(appendItem([]byte{letterLink}, &it))
				}
			}
		}
		if err != nil {
			panic(fmt.Sprintf("BUG: engine: what was put into the outbox cannot be read: %v", err))
		}
	}
	if len(part) > 0 {
		parts = append(parts, part)
	}
	return parts, hops
}
