// Package fsck examines the directory of a crawl that does not run, and says which promises are broken.
//
// It is not a repair: it changes nothing on disk. A crawl is brought in order by going on with it; what that would cut
// off or remove is told as a note. It cannot see what left no trace (that two requests kept their distance, or that no
// forbidden address was asked), and it trusts robots.txt decisions.
//
// The picture.
//
//	MANIFEST --names--> sieve, ready, queues, seen, bench, aloft    each opened at the cut, each checks itself
//	    |                                  |
//	    |                                  +--> every queued URL: known to the sieve, and waiting once
//	    +-- counters --E1--> their number
//	    +-- end of archive --> journal --> whole records, one behind the other
//	                              archive --> form, digests, identities, references
//	                                 |------> CDXJ made anew and compared
//	                                 +------> counters, and the map of payloads in both directions
//
// Rooms that go back to a cut truncate and remove files. So they are opened through an overlay, which shows the files
// as they are (a mapping is a mapping of the file itself, for reading) and keeps truncations and removals to itself.
//
// What it holds the crawl against:
//
//   - I1: a URL waits in one place, and admitted = finished + waiting; found = dropped + handed to the sieve, which has
//     them pending, known or admitted (E1).
//   - I2: what counts as stored is in the archive with digests that match, the indexes say what the files say, and
//     every revisit names a response that is there. That is proved without a list of identities: each response that the
//     map of payloads names is counted, and the count must be the map's length; a revisit must name what the map names.
//   - I3: what counts ends with the last record that the journal names and that is whole, as it does for a crawl that goes
//     on. What lies behind was not acknowledged, whatever it looks like: it is told as a note. After an orderly stop
//     nothing may lie behind.
//   - I4: what waits is known to the sieve, whose length is the number of admitted URLs.
//   - the rooms' own promises: S3, V1, V2, Q1, W1 to W5, N1, N3.
//
// All counters but those of report.json belong to the cut, as the rooms do, so after a kill they are compared as
// strictly as after an orderly stop. Of report.json there is only its own balance then.
//
// Who owns what. Check takes the crawl's lock and gives it back; everything else is its own. It can be ended by its
// context. Progress is called by the goroutine that called Check.
//
// What it costs. Everything is read once, the archive three times at once (so three cores take as long as one). Memory:
// the bench as in a crawl, the map of payloads, 56 bytes for each archive record, the index lines of one file, 32
// bytes for each queued URL in the sample.
package fsck
