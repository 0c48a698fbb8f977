package agent

import (
	"orbweaver/engine/admission"
	"orbweaver/engine/cluster/message"
)

// itemKind is what this agent does with the items of one kind. Package message has their forms.
type itemKind struct {
	// permit says what of an item its sender has the authority to say: see permitItem.
	permit func(p *agent, from string, item []byte) (allowed []byte, unauthorised string, err error)
	// take does what the item says, in a step of the journal. The item has been checked and permitted.
	take func(p *agent, d *admission.Scratch, item []byte, o origin) error
}

// itemKindOf is the row of a kind of items in the table of all kinds. An unknown one is read as a link, which fails.
func itemKindOf(kind byte) itemKind {
	switch kind {
	case message.Site:
		return itemKind{(*agent).permitSite, (*agent).takeSite}
	case message.RobotsRedirect:
		return itemKind{(*agent).permitRobotsRedirect, (*agent).takeRobotsRedirect}
	case message.RobotsResult:
		return itemKind{(*agent).permitRobotsResult, (*agent).takeRobotsResult}
	case message.Fetched:
		return itemKind{(*agent).permitFetched, (*agent).takeFetched}
	case message.Retained:
		return itemKind{(*agent).permitRetained, (*agent).takeRetained}
	default:
		return itemKind{(*agent).permitLink, (*agent).takeLink}
	}
}
