package agent

import (
	"fmt"

	"orbweaver/engine/cluster/message"
	"orbweaver/engine/frontier/admission"
)

// itemKind is what this agent does with the items of one kind. Package message has their forms.
type itemKind struct {
	// permit says what of an item its sender has no authority to say; empty if it may say all of it. isChanged says that
	// permit has cut the item. An error means that the message must come again later. nil permits any member.
	permit func(a *authority, from string, item *message.Item) (unauthorised string, isChanged bool, err error)
	// take does what the item says, in a step of the journal.
	take func(i *items, d *admission.Scratch, item *message.Item, o origin) error
}

// itemKindOf is the row of a kind of items in the table of all kinds. Package message reads no other ones.
func itemKindOf(kind byte) itemKind {
	switch kind {
	case message.Link:
		return itemKind{nil, (*items).takeLink}
	case message.Site:
		return itemKind{(*authority).permitSite, (*items).takeSite}
	case message.RobotsRedirect:
		return itemKind{(*authority).permitRobotsRedirect, (*items).takeRobotsRedirect}
	case message.RobotsResult:
		return itemKind{(*authority).permitRobotsResult, (*items).takeRobotsResult}
	case message.Fetched:
		return itemKind{(*authority).permitFetched, (*items).takeFetched}
	case message.Retained:
		return itemKind{(*authority).permitRetained, (*items).takeRetained}
	}
	panic(fmt.Sprintf("BUG: agent: an item of the unknown kind %q", kind))
}
