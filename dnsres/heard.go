package dnsres

import (
	"bytes"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/miekg/dns"
)

// Heard is what name servers said about a name, word for word as far as the text form of a record goes: for an archive.
type Heard struct {
	Server  netip.AddrPort // who said it; the zero value if several did
	At      time.Time      // of the first question
	Records []byte         // the records of the answers as lines of a master file, in the order in which they came, each once
}

// note adds the records of a reply about a name. The random case that the question had is ours, and is taken out.
func (h *Heard) note(reply *dns.Msg, name string, server netip.AddrPort) {
	if len(h.Records) == 0 {
		h.Server = server
	} else if h.Server != server {
		h.Server = netip.AddrPort{}
	}
	for _, rr := range reply.Answer {
		if strings.EqualFold(rr.Header().Name, name) {
			rr = dns.Copy(rr)
			rr.Header().Name = name
		}
		h.Records = append(append(h.Records, rr.String()...), '\n')
	}
}

// join adds what was heard at the same time, the aliases left out that both have.
func (h *Heard) join(other *Heard) {
	if len(h.Records) == 0 {
		h.Server = other.Server
	} else if len(other.Records) > 0 && h.Server != other.Server {
		h.Server = netip.AddrPort{}
	}
	own := h.Records
	for line := range bytes.Lines(other.Records) {
		if !slices.ContainsFunc(slices.Collect(bytes.Lines(own)), func(l []byte) bool { return bytes.Equal(l, line) }) {
			h.Records = append(h.Records, line...)
		}
	}
}
