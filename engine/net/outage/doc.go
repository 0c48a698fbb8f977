// Package outage detects faults that no single site causes:
//
//   - Network: no known site can be reached, or too many connections time out on the way;
//   - Way: a proxy or another gateway answers in place of the sites;
//   - NameServers: no name server answers;
//   - Shortage: this machine has no file descriptor, port or socket memory left;
//   - DiskGuard: the disk is full or broken.
//
// During such a fault, a failed attempt counts neither against its site nor as a try of its URL. The package only
// observes and decides; the engine reports to it and delays the sites. All types are safe for concurrent use, and none
// has a goroutine.
package outage
