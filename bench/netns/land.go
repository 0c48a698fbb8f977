package netns

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// ErrImpossible says that there can be no namespaces here. What it is wrapped with says why, and what helps.
var ErrImpossible = errors.New("no network namespaces can be made here")

// remedy is what helps.
const remedy = "it takes Linux, the tools of util-linux and iproute2, and leave to make user namespaces: " +
	"sysctl user.max_user_namespaces above 0; where there are such, kernel.unprivileged_userns_clone=1 and " +
	"kernel.apparmor_restrict_unprivileged_userns=0; a container that does not forbid unshare"

// MembersMax is how many members a Land may have: 10.77.0.1 to 10.77.0.250.
const MembersMax = 250

// The device of a member, and a hardware address that no member has.
const (
	device = "way"
	nobody = "02:00:00:00:00:01"
)

// Land is some namespaces, the members from 0. It is not safe for concurrent use.
type Land struct {
	tools     map[string]string // their files
	hub       *holder
	members   []*holder
	separated []int    // on the other bridge
	lost      [][2]int // from one to another
}

// New makes so many members, all joined. Without the means the error is ErrImpossible. The caller calls Close, also
// when ctx has ended, which ends all namespaces.
func New(ctx context.Context, members int) (l *Land, err error) {
	if members < 1 || members > MembersMax {
		return nil, fmt.Errorf("netns: %d members: want 1 to %d", members, MembersMax)
	}
	l = &Land{tools: make(map[string]string)}
	if err = l.make(ctx, members); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// Try says whether New can succeed here: nil, or ErrImpossible with what helps.
func Try(ctx context.Context) error {
	l, err := New(ctx, 1)
	if err == nil {
		l.Close()
	}
	return err
}

// impossible is the error for a cause.
func impossible(cause error) error {
	return fmt.Errorf("netns: %w (%w): %s", ErrImpossible, cause, remedy)
}

func (l *Land) make(ctx context.Context, members int) (err error) {
	if runtime.GOOS != "linux" {
		return impossible(errors.New("this is " + runtime.GOOS))
	}
	for _, name := range []string{"unshare", "nsenter", "sh", "ip"} {
		if l.tools[name], err = find(name); err != nil {
			return impossible(err)
		}
	}
	l.hub, err = hold(ctx, l.tools["unshare"], "--user", "--map-root-user", "--net", l.tools["sh"], "-c", keep)
	if err != nil {
		return impossible(err)
	}
	ways := []string{
		"link set lo up",
		"link add one type bridge",
		"link set one up",
		"link add other type bridge",
		"link set other up",
	}
	for k := range members {
		m, err := hold(ctx, l.Hub(l.tools["unshare"], "--net", l.tools["sh"], "-c", keep)...)
		if err != nil {
			return impossible(err)
		}
		l.members = append(l.members, m)
		ways = append(ways, fmt.Sprintf("link add way%d type veth peer name %s netns %d", k, device, m.pid()),
			fmt.Sprintf("link set way%d master one", k), fmt.Sprintf("link set way%d up", k))
	}
	if err = l.ip(ctx, l.Hub, ways); err != nil {
		return impossible(err)
	}
	for k := range members {
		err = l.ip(
			ctx,
			l.in(k),
			[]string{
				"link set lo up",
				fmt.Sprintf("addr add %s/24 dev %s", l.Address(k), device),
				"link set " + device + " up",
			},
		)
		if err != nil {
			return impossible(err)
		}
	}
	return nil
}

// find looks for ip where administrators' tools are, too: not every PATH has these folders.
func find(name string) (file string, err error) {
	if file, err = exec.LookPath(name); err == nil || name != "ip" {
		return file, err
	}
	for _, dir := range []string{"/usr/sbin", "/sbin"} {
		if file, there := exec.LookPath(filepath.Join(dir, name)); there == nil {
			return file, nil
		}
	}
	return "", err
}

// Address is where member k is reached by the others.
func (l *Land) Address(k int) string { return fmt.Sprintf("10.77.0.%d", k+1) }

// Namespace is the file of member k's namespace. A process in the hub may enter it.
func (l *Land) Namespace(k int) string { return fmt.Sprintf("/proc/%d/ns/net", l.members[k].pid()) }

// Hub is the command line that runs a command in the namespace of the bridges, with an address of no member. The number
// of its process is that of the command.
func (l *Land) Hub(command ...string) []string { return l.enter(l.hub, command) }

// In is the command line that runs a command as member k, with a loopback of its own. The number of its process is that
// of the command.
func (l *Land) In(k int, command ...string) []string { return l.enter(l.members[k], command) }

func (l *Land) in(k int) func(command ...string) []string {
	return func(command ...string) []string { return l.In(k, command...) }
}

func (l *Land) enter(h *holder, command []string) []string {
	return append(
		[]string{
			l.tools["nsenter"],
			"--target",
			fmt.Sprint(h.pid()),
			"--user",
			"--preserve-credentials",
			"--net",
			"--",
		},
		command...)
}

// ip has the tool of that name do some things, one a line.
func (l *Land) ip(ctx context.Context, where func(command ...string) []string, lines []string) error {
	argv := where(l.tools["ip"], "-batch", "-")
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stdin = strings.NewReader(strings.Join(lines, "\n") + "\n")
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("ip: %w: %s", err, bytes.TrimSpace(said))
	}
	return nil
}

// Part moves some members to the other bridge: between them and the rest nothing passes, until Mend.
func (l *Land) Part(ctx context.Context, away []int) error {
	l.separated = append(l.separated, away...)
	return l.moved(ctx, away, "other")
}

func (l *Land) moved(ctx context.Context, members []int, bridge string) error {
	var lines []string
	for _, k := range members {
		lines = append(lines, fmt.Sprintf("link set way%d master %s", k, bridge))
	}
	if err := l.ip(ctx, l.Hub, lines); err != nil {
		return fmt.Errorf("netns: %w", err)
	}
	return nil
}

// Lose has what some members send to some others vanish, until Mend.
func (l *Land) Lose(ctx context.Context, from, to []int) error {
	for _, a := range from {
		var lines []string
		for _, b := range to {
			lines = append(lines,
				fmt.Sprintf("neigh replace %s lladdr %s dev %s nud permanent", l.Address(b), nobody, device))
			l.lost = append(l.lost, [2]int{a, b})
		}
		if err := l.ip(ctx, l.in(a), lines); err != nil {
			return fmt.Errorf("netns: %w", err)
		}
	}
	return nil
}

// Mend joins all members again.
func (l *Land) Mend(ctx context.Context) error {
	if len(l.separated) > 0 {
		if err := l.moved(ctx, l.separated, "one"); err != nil {
			return err
		}
		l.separated = nil
	}
	for ; len(l.lost) > 0; l.lost = l.lost[1:] {
		way := l.lost[0]
		neighbour := fmt.Sprintf("neigh del %s dev %s", l.Address(way[1]), device)
		if err := l.ip(ctx, l.in(way[0]), []string{neighbour}); err != nil {
			return fmt.Errorf("netns: %w", err)
		}
	}
	return nil
}

// Close gives up all namespaces. They end with their last process.
func (l *Land) Close() {
	for _, m := range l.members {
		_ = m.close() // its end says nothing: ctx may have ended it before
	}
	if l.hub != nil {
		_ = l.hub.close()
	}
	l.hub, l.members = nil, nil
}
