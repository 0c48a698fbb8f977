package identity

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"math/big"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const (
	// NameMax is the longest name of an agent or a crawl, in bytes.
	NameMax = 64
	// GossipKeySize is the length of the key that gossip is encrypted with, in bytes: AES-256.
	GossipKeySize = 32
	// Soon is how long before its end a certificate is warned of.
	Soon = 30 * 24 * time.Hour

	// ServerName is the one name that all agents' certificates have beside their own, for the checks of package tls. It
	// is no host.
	ServerName = "agent.orbweaver.invalid"

	// CapacityDefault is the largest capacity of an agent whose certificate names none.
	CapacityDefault = 8
	// CapacityMost is the largest that a certificate may name.
	CapacityMost = 1000

	scheme       = "orbweaver"
	capacityUnit = "capacity-" // before the capacity, in an organizational unit of a certificate's subject
)

// CapacityOf is the largest capacity that an agent may have by its certificate.
func CapacityOf(leaf *x509.Certificate) int {
	for _, unit := range leaf.Subject.OrganizationalUnit {
		text, ok := strings.CutPrefix(unit, capacityUnit)
		if n, err := strconv.Atoi(text); ok && err == nil && n >= 1 && n <= CapacityMost {
			return n
		}
	}
	return CapacityDefault
}

// Identity is what makes a process an agent of a crawl.
type Identity struct {
	ID          string
	Crawl       string
	GossipKeys  []GossipKey       // 1 or 2: the first is encrypted with, all are accepted
	Certificate tls.Certificate   // the agent's own, with its key and the parsed leaf
	Authority   *x509.Certificate // which signs the others', too
}

// NotAfter is when it ends.
func (id *Identity) NotAfter() time.Time {
	end := id.Certificate.Leaf.NotAfter
	if id.Authority.NotAfter.Before(end) {
		end = id.Authority.NotAfter
	}
	return end
}

// Warning is "" or says that the certificate ends soon, and what to do.
func (id *Identity) Warning(now time.Time) string {
	left := id.NotAfter().Sub(now)
	if left >= Soon {
		return ""
	}
	days := int(left / (24 * time.Hour))
	warning := fmt.Sprintf("the certificate of %s ends in %d days, on %s: ", id.ID, days, day(id.NotAfter()))
	if id.Authority.NotAfter.Equal(id.NotAfter()) {
		return warning + newAuthority
	}
	return warning + fmt.Sprintf(newAgent, id.ID)
}

// Remedies, for the words of faults and warnings.
const (
	newAuthority = `its authority ends with it: make a new one ("orbweaver ca init") and files for all agents`
	newAgent     = `make a new file ("orbweaver ca issue %s --force" where the authority is kept)`
)

// CheckName returns a fault unless the text can name an agent or a crawl: 1 to NameMax letters, digits, dots, hyphens
// and underscores, the first a letter or digit.
func CheckName(name string) error {
	if name == "" || len(name) > NameMax {
		return fmt.Errorf("a name of %d bytes: want 1 to %d", len(name), NameMax)
	}
	for i := range len(name) {
		c := name[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && (i == 0 || c != '.' && c != '-' && c != '_') {
			return fmt.Errorf(
				"the name %q: want letters, digits, dots, hyphens and underscores, the first a letter or digit", name)
		}
	}
	return nil
}

// Of reads the names that an agent's certificate bears. Its signature says whether they are true.
func Of(leaf *x509.Certificate) (crawl, id string, err error) {
	if len(leaf.URIs) != 1 || leaf.URIs[0].Scheme != scheme {
		return "", "", fmt.Errorf("the certificate of %q is not an agent's: it has no name of the form %s:CRAWL/AGENT",
			leaf.Subject.CommonName, scheme)
	}
	crawl, id, _ = strings.Cut(leaf.URIs[0].Opaque, "/")
	for _, name := range []string{crawl, id} {
		if err := CheckName(name); err != nil {
			return "", "", fmt.Errorf("a certificate bears %w", err)
		}
	}
	return crawl, id, nil
}

// Generation is greater in a certificate that was issued later. It is 0 for one that is not an agent's.
func Generation(leaf *x509.Certificate) uint64 {
	if leaf.SerialNumber == nil || !leaf.SerialNumber.IsUint64() {
		return 0
	}
	return leaf.SerialNumber.Uint64()
}

func uri(crawl, id string) *url.URL { return &url.URL{Scheme: scheme, Opaque: crawl + "/" + id} }

func serial(generation uint64) *big.Int { return new(big.Int).SetUint64(generation) }

func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }
