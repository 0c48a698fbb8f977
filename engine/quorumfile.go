package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"orbweaver/internal/vfs"
)

// errQuorum says that the file of agreed sets is damaged.
var errQuorum = errors.New("engine: the list of the agents that were agreed on is damaged: run all agents once without --quorum, which forgets it")

// quorumName is the file that keeps what this agent has agreed to; without it the crawl was never run with --quorum. It is no part of the cut: what was said to others may not be forgotten.
func quorumName(dir string) string { return dir + "/quorum" }

// readQuorum reads it; nil if there is none, empty if nothing was agreed on.
func readQuorum(fsys vfs.FS, dir string) (a agreement, err error) {
	b, err := vfs.ReadFile(fsys, quorumName(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("engine: quorum: %w", err)
	}
	body, ok := cutSum(b)
	if !ok || json.Unmarshal(body, &a) != nil {
		return nil, fmt.Errorf("%w: %s", errQuorum, quorumName(dir))
	}
	return a, nil
}

// writeQuorum makes it durable.
func writeQuorum(fsys vfs.FS, dir string, a agreement) error {
	body, err := json.Marshal(a)
	if err != nil {
		panic("BUG: engine: agreed sets: " + err.Error())
	}
	err = vfs.WriteAtomic(fsys, quorumName(dir), func(w io.Writer) error {
		_, err := w.Write(appendSum(body))
		return err
	})
	if err != nil {
		return fmt.Errorf("engine: quorum: %w", err)
	}
	return nil
}

// beSure makes this agent ask for a majority's leave, if it is to, or forgets what was agreed on.
func (p *peers) beSure(fsys vfs.FS, dir string, cfg *Config, cut *peersCut) (err error) {
	if !cfg.Quorum {
		return vfs.RemoveIfExists(fsys, quorumName(dir))
	}
	if p.quorum, err = newQuorum(p, fsys, dir, cut); err != nil {
		return err
	}
	p.quorum.least, p.grace = cfg.Agents, max(p.grace, cfg.Politeness.HostDelay)
	return nil
}
