package agents

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
)

// Audit is what the program's own audit says of the directories that are left: whose copy of each page counts.
type Audit struct {
	Pages           int64 `json:"pages"`
	Shared          int64 `json:"shared"` // of these, at several agents
	Superseded      int64 `json:"superseded"`
	SupersededBytes int64 `json:"superseded_bytes"`
	Marked          int64 `json:"marked"` // of the superseded captures, those that were not yet
}

// audit has the directories that are left audited and marked, and then audited again: nothing may be left to say. An
// audit that finds less than is there twice by the judge is at fault.
func (f *fleet) audit(ctx context.Context, r *Run) error {
	var dirs []string
	for _, a := range f.agents {
		if a.state != lost {
			dirs = append(dirs, a.dir)
		}
	}
	var said, words bytes.Buffer
	cmd := exec.CommandContext(ctx, f.o.Program, append([]string{"audit", "--mark", "--quiet", "--json"}, dirs...)...)
	cmd.Stdout, cmd.Stderr = &said, &words
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("agents: audit: %w: %s", err, lastLine(words.Bytes()))
	}
	r.Audit = new(Audit)
	if err := json.Unmarshal(said.Bytes(), r.Audit); err != nil {
		return fmt.Errorf("agents: audit: %w", err)
	}
	if twice := r.Verdict.Held - r.Verdict.Stored; r.Audit.Superseded < int64(twice) {
		r.Faults = append(
			r.Faults,
			fmt.Sprintf("the audit found %d captures superseded, and %d pages are there twice", r.Audit.Superseded,
				twice),
		)
	}
	again, err := exec.CommandContext(ctx, f.o.Program, append([]string{"audit", "--quiet"}, dirs...)...).
		CombinedOutput()
	var failed *exec.ExitError
	switch {
	case errors.As(err, &failed):
		r.Faults = append(r.Faults, "an audit behind one that marks: "+lastLine(again))
	case err != nil:
		return fmt.Errorf("agents: audit: %w", err)
	}
	return nil
}
