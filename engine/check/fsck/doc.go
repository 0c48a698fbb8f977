// Package fsck checks the directory of a crawl that does not run, and reports which promises are broken, and where.
//
// It changes nothing on disk. To repair a killed crawl, resume it; what a resume would remove is reported as a note. To
// repair a crawl with faults, rebuild its frontier from the archive.
//
//	MANIFEST --names--> sieve, ready, queues, seen, bench, cold, in flight  each opened at the checkpoint and checked
//	    |                                  |
//	    |                                  +--> every queued URL ---+
//	    +-- counters --E1--> their number                           +--> sorted by fingerprint: in one place? known?
//	    +-- end of archive --> journal --> whole records            |
//	                              archive --> every record's URL ---+
//	                                 |------> form, digests, identities, references
//	                                 |------> CDXJ made again and compared, or else the lines of a cluster
//	                                 |------> lengths in the manifest of closed files
//	                                 +------> counters, and the map of payloads in both directions
//
// Components that reopen at a checkpoint truncate and remove files. So they are opened through an overlay. It shows the
// files of the disk (a mapping is a read-only mapping of the file), and keeps truncations and removals in memory.
//
// What it checks:
//
//   - I1: a URL is queued in one place, and not if the archive has its last answer; admitted = finished + queued; found
//     = dropped + handed to the sieve, which has them pending, known or admitted (E1).
//   - I2: every record of the archive is whole and its digests match; the sieve knows its URL; the indexes agree with
//     the files; the number of URLs with a last answer is the number of URLs with a record of it. Every revisit refers
//     to an existing response, also of a page that the server reported as unchanged, from the second pass on. Every
//     payload in the map exists, and every payload is in the map.
//   - I3: what counts ends with the last whole record that the journal names, as in a resume. What follows was not
//     acknowledged and is reported as a note. After an orderly stop nothing may follow. An entry names the record of
//     its own URL. No entry that a later sync mark covers is damaged: a power cut cannot do that
//     (engine/store/journal/syncmark.go).
//   - I4: the sieve knows every queued URL, and its length is the number of admitted URLs.
//   - P1: for an agent of a cluster, the unsent and the retained messages can be read, and the unsent ones are among
//     the retained ones. P2: a URL with a record of its last answer is in the fetched set.
//   - the promises of the components: S3, V1, V2, Q1, W1 to W5, Y1, Y3, H3. A host is on the workbench or in the cold
//     store.
//
// All counters except those of report.json belong to the checkpoint. So after a kill they are compared as strictly as
// after an orderly stop. Of report.json only its own balance is checked then.
//
// In a recrawl counters and components belong to the last pass, so only its records are compared with them. Earlier
// records are checked for form, digests, identities, references and payloads.
//
// What it cannot see:
//
//   - what left no trace: the delay between two requests, a contact with a forbidden address, a broken robots.txt rule
//   - which page lost its record: the sieve has no URLs, so only numbers are compared. With a store filter not even
//     these, since an answer need not have a record
//   - a page named /robots.txt, which looks like the robots.txt; whether a URL without an answer really failed
//   - the header of a record in a file without gzip, and seeds: they have no checksum. A wrong byte in a URL is found
//     because the sieve does not know it, one in a date is not
//   - in a cluster whose agents have changed: whether the sieve knows each queued or finished URL, and whether none is
//     queued twice. Hosts of a temporary owner have other fingerprints, so only numbers are compared
//
// Check takes the crawl's lock and releases it. It ends with its context. Progress is called by the goroutine that
// called Check. The caller owns the temporary directory.
//
// Cost: every file of the frontier is read once, the archive three times in parallel (so three cores take as long as
// one). Memory: the workbench as in a crawl, the map of payloads, two lists of 64 MiB, and for one archive file the
// index lines and 64 bytes for each record. Temporary disk, if a list is longer than its memory: 24 bytes for each
// queued URL, 48 for each response or revisit. Each queued or stored URL is looked up in the sieve, in order: a block
// of 4 KiB per run.
package fsck
