package simweb

import (
	"orbweaver/internal/simweb/draw"
)

// RobotsKind is how a host answers for robots.txt.
type RobotsKind uint8

// The kinds.
const (
	RobotsNone RobotsKind = iota // 404
	robotsAllowAll
	RobotsRules
	RobotsCrawlDelay
	RobotsForbidden // 403, which allows
	RobotsRedirect  // to a file on another host
	RobotsSlow
	RobotsHuge // what is past 500 KiB would deny all
	RobotsHTML // a page with status 200: no rules

	// RobotsDenyAll and the following deny all of the host.
	RobotsDenyAll
	RobotsError
	RobotsUnavailable
	RobotsReset
)

// rules says that the file has rules on some pages' areas.
func (k RobotsKind) rules() bool { return k == RobotsRules || k == RobotsRedirect }

// DeniesAll says that no page of the host may be fetched.
func (k RobotsKind) DeniesAll() bool { return k >= RobotsDenyAll }

// Robots holds the share of hosts with each kind of robots.txt; the rest has none (404). The shares add up to at most
// 1. Kinds that deny the whole host are drawn only for hosts that no other hangs on; elsewhere they are read as
// AllowAll.
type Robots struct {
	AllowAll    float64
	Rules       float64 // groups, longest match, wildcards: see robots.go for the rules
	CrawlDelay  float64 // allows all, asks for Timing.CrawlDelay
	Forbidden   float64 // 403: allows all
	Redirect    float64 // 302 to a file on another host that allows all but the areas
	Slow        float64 // allows all, takes Timing.Slow
	Huge        float64 // 600 KiB; a rule past 500 KiB that denies all does not count
	HTML        float64 // a page with status 200
	DenyAll     float64
	Error       float64 // 500
	Unavailable float64 // 503
	Reset       float64 // connection reset
}

// robotsTable draws kinds of robots.txt: its arguments are in their order.
func robotsTable(r *Robots) (draw.Table, error) {
	return draw.NewTable("robots", r.AllowAll, r.Rules, r.CrawlDelay, r.Forbidden, r.Redirect, r.Slow, r.Huge, r.HTML,
		r.DenyAll, r.Error, r.Unavailable, r.Reset)
}
