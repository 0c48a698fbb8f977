package cluster

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"orbweaver/engine/peering/identity"
	"orbweaver/internal/cli/command"
)

type caGossipKeyCmd struct {
	Step string `arg:"" help:"add, use or remove." placeholder:"STEP" oneof:"add,use,remove"`
	Dir  string `help:"Directory of the authority, with the files of the agents." required:"" placeholder:"DIR"`
}

// Help says how the key is changed.
func (*caGossipKeyCmd) Help() string {
	return `Changes the key in three steps, while all agents run. "add" makes a new key, which agents accept from then
on. With "use" they encrypt with it, and still accept the old one. "remove" removes the old one. Each step
writes ca.key and the files of the agents in the directory (NAME.agent). Their certificates stay. After each
step copy the files to the agents, and run "orbweaver ctl reload" for each. Begin the next step when all
agents have reloaded. Each step can be repeated.

After the last step, files from before the change are useless. If the file of an agent was stolen, make a
new one for that agent before the first step ("orbweaver ca issue NAME --force").

Example:
  orbweaver ca gossip-key add --dir ca         # copy the files, ctl reload for each agent
  orbweaver ca gossip-key use --dir ca         # copy the files, ctl reload for each agent
  orbweaver ca gossip-key remove --dir ca      # copy the files, ctl reload for each agent`
}

// Run makes one step.
func (c *caGossipKeyCmd) Run(inv *command.Invocation) error {
	a, err := readAuthority(c.Dir)
	if err != nil {
		return err
	}
	if err := c.change(a); err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(c.Dir, "*"+agentSuffix))
	if err != nil {
		return fmt.Errorf("--dir: %w", err)
	}
	_, secret, err := a.Files()
	if err != nil {
		return err
	}
	if err := writeNew(filepath.Join(c.Dir, caKey), secret, 0o600, true); err != nil {
		return err
	}
	var faults []error
	for _, name := range files {
		said, err := rewriteKeys(name, a)
		if err != nil {
			faults = append(faults, fmt.Errorf("%s is not changed: %w", name, err))
			continue
		}
		fmt.Fprintln(inv.Stdout, said)
	}
	fmt.Fprintln(inv.Stdout, "next: bring each file to its agent, and there: orbweaver ctl reload --dir DIR"+c.next())
	return errors.Join(faults...)
}

// change makes the step. A step that was made already writes the files again.
func (c *caGossipKeyCmd) change(a *identity.Authority) (err error) {
	switch c.Step {
	case "add":
		if err = a.AddGossipKey(); errors.Is(err, identity.ErrGossipKeyAdded) &&
			a.GossipKeys[0].Number < a.GossipKeys[1].Number {
			err = nil
		}
	case "use":
		err = a.UseGossipKey()
	case "remove":
		err = a.RemoveGossipKey()
	}
	if err != nil {
		return fmt.Errorf("%s: %w: the steps are add, use, remove", c.Step, err)
	}
	return nil
}

func (c *caGossipKeyCmd) next() string {
	switch c.Step {
	case "add":
		return "\nwhen all agents have done that: orbweaver ca gossip-key use --dir " + c.Dir
	case "use":
		return "\nwhen all agents have done that: orbweaver ca gossip-key remove --dir " + c.Dir
	}
	return ""
}

// rewriteKeys gives the file of an agent the gossip keys of the authority.
func rewriteKeys(name string, a *identity.Authority) (said string, err error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return "", err
	}
	id, err := identity.Parse(b, time.Now())
	if err != nil {
		return "", err
	}
	if id.Crawl != a.Crawl {
		return "", fmt.Errorf("it is a file of crawl %s, and this is the authority of crawl %s", id.Crawl, a.Crawl)
	}
	file, err := id.WithGossipKeys(a).File()
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s: gossip key %s", name, KeyNumbers(a.GossipKeys)), writeNew(name, file, 0o600, true)
}

// KeyNumbers says which gossip keys an agent encrypts with and accepts.
func KeyNumbers(keys []identity.GossipKey) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d", keys[0].Number)
	for _, key := range keys[1:] {
		fmt.Fprintf(&b, ", and %d is accepted", key.Number)
	}
	return b.String()
}
