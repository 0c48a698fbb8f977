package cluster

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"orbweaver/engine/peering/identity"
	"orbweaver/internal/cli/command"
)

// CACommand is the command ca.
type CACommand struct {
	Init  caInitCmd  `cmd:"" help:"Make the authority of a crawl."`
	Issue caIssueCmd `cmd:"" help:"Make the file of an agent."`
	Show  caShowCmd  `cmd:"" help:"Print the agent of a file, and how long the file is valid."`

	GossipKey caGossipKeyCmd `cmd:"" help:"Change the key that gossip is encrypted with, while the agents run."`
}

// Help shows an example.
func (*CACommand) Help() string {
	return "Agents that share a crawl know each other by certificates, which one authority signs.\n\nExample:\n" +
		"  orbweaver ca init --dir ca && orbweaver ca issue agent-1 --dir ca"
}

// Names of the authority's files, within its directory.
const (
	caKey         = "ca.key"
	caCertificate = "ca.crt"
	agentSuffix   = ".agent"
)

// daysMax is a century: more is a slip of the finger.
const daysMax = 36_525

func lifeOf(days int64) (time.Duration, error) {
	if days < 1 || days > daysMax {
		return 0, command.Misuse(fmt.Errorf("--days: %d: want 1 to %d", days, daysMax))
	}
	return time.Duration(days) * 24 * time.Hour, nil
}

type caInitCmd struct {
	Dir   string `help:"Directory for the authority; keep it where no agent runs." required:"" placeholder:"DIR"`
	Days  int64  `help:"Days that it is valid." default:"3650" placeholder:"N"`
	Force bool   `help:"Replace an authority that is there. All files it has issued are worthless then."`
}

// Help shows examples.
func (*caInitCmd) Help() string {
	return `Writes ca.crt, the certificate, and ca.key, which only its owner can read. A person with this key can add
agents to the crawl. The authority names the crawl. All files it issues hold the key that encrypts cluster
membership (gossip).

Examples:
  orbweaver ca init --dir ca
  orbweaver ca init --dir ca --days 365`
}

// Run makes it.
func (c *caInitCmd) Run(inv *command.Invocation) error {
	life, err := lifeOf(c.Days)
	if err != nil {
		return err
	}
	a, err := identity.New(strings.ToLower(rand.Text()[:16]), time.Now(), life)
	if err != nil {
		return err
	}
	certificate, secret, err := a.Files()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return fmt.Errorf("--dir: %w", err)
	}
	if err := writeNew(filepath.Join(c.Dir, caKey), secret, 0o600, c.Force); err != nil {
		return err
	}
	// A certificate without its key is good for nothing, so it may be replaced.
	if err := writeNew(filepath.Join(c.Dir, caCertificate), certificate, 0o644, true); err != nil {
		return err
	}
	fmt.Fprintf(
		inv.Stdout,
		"crawl %s: authority in %s, good until %s\nnext: orbweaver ca issue NAME --dir %s, once for each agent\n", a.Crawl,
		c.Dir, a.Leaf.NotAfter.UTC().Format(time.DateOnly), c.Dir,
	)
	return nil
}

type caIssueCmd struct {
	ID       string `arg:"" help:"Name of the agent: letters, digits, dots, hyphens, underscores; at most 64." placeholder:"ID"`
	Dir      string `help:"Directory of the authority." required:"" placeholder:"DIR"`
	Days     int64  `help:"Days that it is valid; not longer than the authority." default:"365" placeholder:"N"`
	Capacity int    `help:"Largest --capacity that the agent may have." default:"8" placeholder:"N" least:"1" most:"1000"`
	Force    bool   `help:"Replace the agent's file. Agents that have seen the new one refuse the old one."`
}

// Help shows examples.
func (*caIssueCmd) Help() string {
	return `Writes ID.agent into the directory of the authority. Only its owner can read it. It holds the certificate
and the key of the agent, the authority's certificate, and the gossip key. Copy it to the machine of the
agent, and give it there with --agent-file.

Examples:
  orbweaver ca issue agent-1 --dir ca
  orbweaver ca issue agent-1 --dir ca --days 90 --force     # a new one, since the old one expires`
}

// Run makes it.
func (c *caIssueCmd) Run(inv *command.Invocation) error {
	life, err := lifeOf(c.Days)
	if err != nil {
		return err
	}
	if err := identity.CheckName(c.ID); err != nil {
		return command.Misuse(err)
	}
	a, err := readAuthority(c.Dir)
	if err != nil {
		return err
	}
	name := filepath.Join(c.Dir, c.ID+agentSuffix)
	old, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	id, err := a.IssueFor(c.ID, c.Capacity, time.Now(), life, identity.GenerationIn(old))
	if err != nil {
		return err
	}
	file, err := id.File()
	if err != nil {
		return err
	}
	if err := writeNew(name, file, 0o600, c.Force); err != nil {
		return err
	}
	fmt.Fprintf(
		inv.Stdout, "%s: agent %s of crawl %s, good until %s\n", name, id.ID, id.Crawl,
		id.NotAfter().UTC().Format(time.DateOnly),
	)
	return nil
}

type caShowCmd struct {
	JSON bool   `help:"Print one JSON object."`
	File string `arg:"" help:"File of an agent." placeholder:"FILE"`
}

// shownIdentity is what ca show prints as JSON.
type shownIdentity struct {
	Agent      string    `json:"agent"`
	Crawl      string    `json:"crawl"`
	ValidUntil time.Time `json:"valid_until"`
	Warnings   []string  `json:"warnings"`
}

// Help shows an example.
func (*caShowCmd) Help() string {
	return "Fails, as a crawl would, if the file is damaged or has ended.\n\nExample:\n  orbweaver ca show agent-1.agent"
}

// Run prints it.
func (c *caShowCmd) Run(inv *command.Invocation) error {
	id, warnings, err := ReadIdentity(c.File, time.Now())
	if err != nil {
		return err
	}
	if c.JSON {
		return command.PrintJSON(inv.Stdout, shownIdentity{
			Agent: id.ID, Crawl: id.Crawl, ValidUntil: id.NotAfter().UTC(), Warnings: append([]string{}, warnings...),
		})
	}
	fmt.Fprintf(
		inv.Stdout, "agent %s of crawl %s, good until %s\n", id.ID, id.Crawl, id.NotAfter().UTC().Format(time.DateOnly),
	)
	for _, said := range warnings {
		fmt.Fprintln(inv.Stderr, "orbweaver: warning:", said)
	}
	return nil
}

func readAuthority(dir string) (*identity.Authority, error) {
	certificate, err := os.ReadFile(filepath.Join(dir, caCertificate))
	secret, kerr := os.ReadFile(filepath.Join(dir, caKey))
	if err := errors.Join(err, kerr); err != nil {
		return nil, fmt.Errorf("no authority in %s: make one (\"orbweaver ca init --dir %s\"): %w", dir, dir, err)
	}
	a, err := identity.ParseAuthority(certificate, secret)
	if err != nil {
		return nil, fmt.Errorf("the authority in %s: %w", dir, err)
	}
	return a, nil
}
