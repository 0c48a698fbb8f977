package dnsres

import (
	"bytes"
	"net/netip"
	"strings"
	"time"

	"github.com/miekg/dns"
)

// Heard is what name servers said about a name, word for word as far as the text form of a record goes: for an archive.
type Heard struct {
	Server  netip.AddrPort // who said it; the zero value if several did
	At      time.Time      // of the first question
	Records []byte         // the records of the answers as lines of a master file, in the order in which they came, each once
	Left    int            // records that were left out, since Records has heardMax bytes
}

// heardMax bounds the text that is kept of answers about one name, in bytes. An answer of 64 KiB can repeat a long name in thousands of records, and
// each alias brings another answer.
const heardMax = 64 << 10

// add adds a line.
func (h *Heard) add(line []byte) {
	if h.Left > 0 || len(h.Records)+len(line) > heardMax {
		h.Left++
		return
	}
	h.Records = append(h.Records, line...)
}

// note adds the records of a reply about a name. The random case that the question had is ours, and is taken out.
func (h *Heard) note(reply *dns.Msg, name string, server netip.AddrPort) {
	if len(h.Records) == 0 {
		h.Server = server
	} else if h.Server != server {
		h.Server = netip.AddrPort{}
	}
	for _, rr := range reply.Answer {
		if h.Left > 0 {
			h.Left++
			continue
		}
		if strings.EqualFold(rr.Header().Name, name) {
			rr = dns.Copy(rr)
			rr.Header().Name = name
		}
		h.add([]byte(rr.String() + "\n"))
	}
}

// join adds what was heard at the same time, the aliases left out that both have.
func (h *Heard) join(other *Heard) {
	if len(h.Records) == 0 {
		h.Server = other.Server
	} else if len(other.Records) > 0 && h.Server != other.Server {
		h.Server = netip.AddrPort{}
	}
	own := make(map[string]struct{})
	for line := range bytes.Lines(h.Records) {
		own[string(line)] = struct{}{}
	}
	for line := range bytes.Lines(other.Records) {
		if _, both := own[string(line)]; !both {
			h.add(line)
		}
	}
	h.Left += other.Left
}
