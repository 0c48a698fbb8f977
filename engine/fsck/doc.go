// Package fsck examines the directory of a crawl that does not run, and says which promises are broken, and where.
//
// It is not a repair: it changes nothing on disk. A crawl that was killed is brought in order by going on with it; what
// that would cut off or remove is told as a note. A crawl that is not sound is rebuilt by engine.Rebuild, from its
// archive.
//
// The picture.
//
//	MANIFEST --names--> sieve, ready, queues, seen, bench, cold, aloft    each opened at the cut, each checks itself
//	    |                                  |
//	    |                                  +--> every queued URL ---+
//	    +-- counters --E1--> their number                           +--> sorted by fingerprint: in one place? known to the sieve?
//	    +-- end of archive --> journal --> whole records            |
//	                              archive --> every record's URL ---+
//	                                 |------> form, digests, identities, references
//	                                 |------> CDXJ made anew and compared
//	                                 +------> counters, and the map of payloads in both directions
//
// Rooms that go back to a cut truncate and remove files. So they are opened through an overlay, which shows the files
// as they are (a mapping is a mapping of the file itself, for reading) and keeps truncations and removals to itself.
//
// What it holds the crawl against:
//
//   - I1: a URL waits in one place, and not if its last answer is in the archive; admitted = finished + waiting; found
//     = dropped + handed to the sieve, which has them pending, known or admitted (E1).
//   - I2: every record of the archive is whole and its digests match; its URL is known to the sieve; the indexes say
//     what the files say; the number of URLs with a last answer is that of the URLs which have a record of one. Every
//     revisit names a response that is there (one of a page that the server called unchanged, too, from the second pass
//     on), every payload that the map names is there, and every payload is in the map.
//   - I3: what counts ends with the last record that the journal names and that is whole, as it does for a crawl that
//     goes on. What lies behind was not acknowledged, whatever it looks like: it is told as a note. After an orderly
//     stop nothing may lie behind. An entry names the record of its own URL. No entry is damaged that a later sync mark
//     covers: a power cut cannot take it (engine/journal/syncmark.go).
//   - I4: what waits is known to the sieve, whose length is the number of admitted URLs.
//   - P1: of one of several agents, what is to be sent to others and what they were told can be read, and the one is
//     part of the other. P2: a URL with a record of its last answer is among those that it tells others to have.
//   - the rooms' own promises: S3, V1, V2, Q1, W1 to W5, N1, N3, H3. A host is on the bench or in the cold store.
//
// All counters but those of report.json belong to the cut, as the rooms do, so after a kill they are compared as
// strictly as after an orderly stop. Of report.json there is only its own balance then.
//
// Of a crawl that was begun again the counters and rooms are of the last pass, so only its records are held against
// them. What lies before is looked at for form, digests, identities, references and payloads.
//
// What it cannot see: what left no trace (that two requests kept their distance, that no forbidden address was asked),
// and whether a robots.txt was obeyed. Which page lost its record, where one did: the sieve has no URLs, so it is their
// number that is compared; and with a store filter not even that, since then an answer need not have a record. A page
// named /robots.txt looks like the robots.txt. Whether a URL that failed without an answer really did. The header of a
// record in a file that is not compressed with gzip is under no checksum: a wrong byte in a URL is found because the
// sieve does not know it, one in a date is not. Seeds are under no checksum, either.
//
// Of one of several agents, once others have come or gone: whether the sieve knows each URL that waits or is done, and
// whether none waits twice. Hosts on loan are known to it by other fingerprints (engine/circle.go), so it is their
// number that is compared.
//
// Who owns what. Check takes the crawl's lock and gives it back; everything else is its own. It can be ended by its
// context. Progress is called by the goroutine that called Check. The temporary directory is the caller's.
//
// What it costs. Every file of the frontier is read once, the archive three times side by side (so three cores take as
// long as one). Memory: the bench as in a crawl, the map of payloads, two lists of 64 MiB, and of one archive file the
// index lines and 64 bytes for each record. Temporary disk, when a list is longer than its memory: 24 bytes for each
// URL that waits, 48 for each response or revisit. Each URL that waits or is stored is looked up in the sieve, in
// order: a block of 4 KiB per run.
package fsck
