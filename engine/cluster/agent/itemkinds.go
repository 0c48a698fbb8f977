package agent

import (
	"orbweaver/engine/cluster/message"
	"orbweaver/engine/frontier/admission"
)

// itemKind is what this agent does with the items of one kind. Package message has their forms.
type itemKind struct {
	// permit says what of an item its sender has no authority to say; empty if it may say all of it. Then it removes the
	// flags of seeds, and isChanged says that there were some. An error means that the message must come again later.
	permit func(a *authority, from string, item *message.Item) (unauthorised string, isChanged bool, err error)
	// take does what the item says, in a step of the journal.
	take func(i *items, d *admission.Scratch, item *message.Item, o origin) error
}

// itemKindOf is the row of a kind of items in the table of all kinds. An unknown one is read as a link, which fails.
func itemKindOf(kind byte) itemKind {
	switch kind {
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
	default:
		return itemKind{(*authority).permitLink, (*items).takeLink}
	}
}
