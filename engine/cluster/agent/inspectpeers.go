package agent

import (
	"fmt"

	"orbweaver/engine/manifest"
	"orbweaver/engine/site"
	"orbweaver/engine/sites"
	"orbweaver/internal/vfs"
)

// ReadOutboxImage reads what the queues of the outbox do not hold, as of a checkpoint; dir is that of the frontier.
func ReadOutboxImage(fsys vfs.FS, dir string, generation uint64) ([]byte, error) {
	name := manifest.OutboxPath(dir, generation)
	b, err := vfs.ReadFile(fsys, name)
	if err != nil {
		return nil, fmt.Errorf("engine: outbox: %w", err)
	}
	image, ok := cutSum(b)
	if !ok {
		return nil, fmt.Errorf("%w: %s", errOutbox, name)
	}
	return image, nil
}

// KeptItem says of an item for another agent that whoever takes its place is told it, too.
func KeptItem(item []byte) bool { return kindOf(item) == letterLink || kindOf(item) == letterHop }

// CheckItem says how many links an item of a letter has, or why it cannot be read.
func CheckItem(item []byte) (links int64, err error) {
	p := &agent{sites: &sites.Table{Rules: site.NewRulesPool(0)}}
	if err := p.readItem(item); err != nil {
		return 0, err
	}
	switch kindOf(item) {
	case letterLink:
		links = 1
	case letterSite:
		move, err := readSiteMove(item)
		if err != nil {
			return 0, err
		}
		for _, err := range move.urls() {
			if err != nil {
				return links, err
			}
			links++
		}
	}
	return links, nil
}
