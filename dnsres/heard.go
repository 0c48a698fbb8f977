package dnsres

import (
	"bytes"
	"fmt"
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
	Left    int            // lines that were left out, since Records and Denials have heardMax bytes together
	Denials []byte         // what says that there is no address, or that a server failed: for each question a comment line with its status, then the SOA records
}

// heardMax bounds the text that is kept of answers about one name, in bytes. An answer of 64 KiB can repeat a long name in thousands of records, and
// each alias brings another answer.
const heardMax = 64 << 10

// add adds a line to Records or Denials.
func (h *Heard) add(to *[]byte, line []byte) {
	if h.Left > 0 || len(h.Records)+len(h.Denials)+len(line) > heardMax {
		h.Left++
		return
	}
	*to = append(*to, line...)
}

// deny adds a reply that says that name has no record of the type or does not exist, or that the server failed.
func (h *Heard) deny(reply *dns.Msg, name string, qtype uint16, server netip.AddrPort) {
	if len(h.Records)+len(h.Denials) == 0 {
		h.Server = server
	} else if h.Server != server {
		h.Server = netip.AddrPort{}
	}
	h.add(&h.Denials, fmt.Appendf(nil, "; %s %s: %s\n", name, dns.TypeToString[qtype], rcodeName(reply.Rcode)))
	for _, rr := range reply.Ns {
		if soa, ok := rr.(*dns.SOA); ok {
			soa = dns.Copy(soa).(*dns.SOA)
			if at := len(name) - len(soa.Hdr.Name); at >= 0 && strings.EqualFold(name[at:], soa.Hdr.Name) {
				soa.Hdr.Name = name[at:] // without the random case of the question
			}
			h.add(&h.Denials, append([]byte(soa.String()), '\n'))
			return // a zone has one
		}
	}
}

// note adds the records of a reply about a name. The random case that the question had is ours, and is taken out.
func (h *Heard) note(reply *dns.Msg, name string, server netip.AddrPort) {
	if len(reply.Answer) == 0 {
		return // what denies is noted by deny
	}
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
		h.add(&h.Records, []byte(rr.String()+"\n"))
	}
}

// join adds what was heard at the same time, the lines left out that both have.
func (h *Heard) join(other *Heard) {
	if len(h.Records)+len(h.Denials) == 0 {
		h.Server = other.Server
	} else if len(other.Records)+len(other.Denials) > 0 && h.Server != other.Server {
		h.Server = netip.AddrPort{}
	}
	h.addLines(&h.Records, other.Records)
	h.addLines(&h.Denials, other.Denials)
	h.Left += other.Left
}

// addLines adds the lines of more that own, one of the texts of h, lacks.
func (h *Heard) addLines(own *[]byte, more []byte) {
	known := make(map[string]struct{})
	for line := range bytes.Lines(*own) {
		known[string(line)] = struct{}{}
	}
	for line := range bytes.Lines(more) {
		if _, both := known[string(line)]; !both {
			h.add(own, line)
		}
	}
}
