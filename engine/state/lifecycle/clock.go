package lifecycle

import "time"

// Boot reports which boot of the machine this is, and how long ago it booted, sleep included. Setting the wall clock
// does not change it.
type Boot func() (boot string, up time.Duration)

// ClockReading is what the clocks showed when a checkpoint was written.
type ClockReading struct {
	Written time.Time     // wall clock
	Boot    string        // of the machine; "" if it is not known
	Up      time.Duration // since that boot
}

// Resumed carries times from the run that wrote a checkpoint to this one. It believes the wall clock only where a
// mistake harms no server:
//
//   - What must not come too soon (the due time of a site or an IP, for politeness) is postponed by no more than was
//     left of it at the checkpoint. Only time that has certainly passed is subtracted: in the same boot of the
//     machine what the boot clock says, in a later boot its uptime, without a boot clock nothing.
//   - What must not last too long (a copy of robots.txt, an address) has aged by the larger of what both clocks say. If
//     the wall clock went back and nothing else is known, it is expired.
type Resumed struct {
	Now     time.Time     // of this run
	Aged    time.Duration // since the checkpoint, at most
	written time.Time     // wall time of the checkpoint
	passed  time.Duration // since the checkpoint, at least
	unknown bool          // the time since the checkpoint is not known at all
}

// NewResumed compares the clocks with those of a checkpoint; boot may be nil.
func NewResumed(at ClockReading, boot Boot) Resumed {
	c := Resumed{Now: time.Now(), written: at.Written.Round(0)}
	wall := c.Now.Round(0).Sub(c.written)
	known := false
	if boot != nil && at.Boot != "" {
		id, up := boot()
		switch {
		case id == at.Boot && up >= at.Up:
			c.passed, known = up-at.Up, true
		case id != at.Boot && id != "":
			c.passed = up
		}
	}
	c.Aged = max(c.passed, wall)
	c.unknown = wall < 0 && !known
	return c
}

// Jump is how far the wall clock is from where it should be, as far as is known.
func (c *Resumed) Jump() time.Duration { return c.Now.Round(0).Sub(c.written) - c.passed }

// CheckpointClock is what the clock of the checkpoint would show now if only the time passed that certainly has.
func (c *Resumed) CheckpointClock() time.Time { return c.written.Add(c.passed) }

// Moment converts a time of the clock of the checkpoint to the clock of this run. It is as far ahead, or as little ago,
// as is certain.
func (c *Resumed) Moment(at time.Time) time.Time {
	if at.IsZero() {
		return at
	}
	return c.Now.Add(at.Sub(c.CheckpointClock()))
}

// Expiry converts the end of a validity to the clock of this run; longest is the longest validity there can be.
func (c *Resumed) Expiry(end time.Time, longest time.Duration) time.Time {
	if end.IsZero() {
		return end
	}
	left := end.Sub(c.written) - c.Aged
	if c.unknown {
		left = 0
	}
	return c.Now.Add(min(max(left, 0), longest))
}
