// Package crash kills crawls at every point at which they change the disk, and sees what comes of them.
//
// It is not a test of single components (each has its own crash tests) and it plays no disk that errs (faultfs and the
// tests of the components do): here the disk obeys, and the process or the power goes away.
//
//	rehearse: an unkilled crawl of a small faulty web, in virtual time, counts its calls by class (one web in four has
//	             |            more hosts than memory, and some of them are on disk)
//	             |            class: what is done, to which kind of file, by which function
//	choose: -per-class calls of each class, or of -classes classes
//	             |
//	record: the same crawl once more; tap shows every call to the recorder, which takes images around the chosen calls
//	             |            image: the disk as a crash in that moment leaves it, and what the web had been asked then
//	survive: from -floor images of each class  fsck, resume, crawl to the end, fsck, oracle, and a comparison
//	             |            with the rehearsal
//
// Around each call the variants are: killed in front of it, in the middle (a write torn anywhere), behind it; the power
// cut there with nothing unsynced left, with any part of it left in any order, with this call alone left of all; the
// power cut behind a sync. Equal images are tried once. The test fails if a class has fewer images tried than its
// floor: no class is left out for want of time. Images are also taken of some resumed crawls while they open: a
// crash in the recovery from a crash.
//
// TestCrashInARefresh does the same to a finished crawl that begins again, at every call that turns it over: fsck finds
// the finished crawl or its second pass, and the same command brings that to its end.
//
// TestCrashOfAgents does the same to two agents on one machine, which crash together, at any call of either: what one
// has acknowledged, or has said that it has, the other has forgotten or does not fetch. It finds no case in which one
// lives on and the other does not; those, without torn disks, are in bench/scenario/storage.
//
// What must hold after each: fsck finds the image and the end sound (I1, I2, I4); the archive has the set of pages of
// the unkilled crawl, each once, each record valid (I2, I3); no more pages were fetched again than were in flight, and
// at a power cut than had not been synced (I3); no site and no address was asked too early, across the restart (I5),
// and robots.txt was kept (I6); the counters balance (E1); no goroutine is left (I8); and the crawl came to its end
// (I9). In virtual time only the simulated web can be asked (I7: the judge counts unexpected
// requests).
//
// TestKillTheProgram does it for real: SIGKILL for the program at random moments, with a web on loopback.
//
// Two worlds of ten have breadth-first visits. The others have each of the other orders of visits, with their queues on
// disk and the scores of links.
//
// # Replaying
//
// All choices come from -seed, which each line of the result names: the classes, the calls, the images, the moments of
// SIGKILL.
//
// Virtual time and seeds make a crawl nearly the same each time; the scheduler has its say. So a failure names its
// point, which is the same place in the program at the same count, and saves the image itself, from which TestImage
// goes on exactly.
//
//	make crash                                                   some images of each class; CRASH='-floor 0' takes all
//	go test ./bench/crash -run TestHostile_S06_S07_aCrashAtAnyCallThatChangesTheDiskIsSurvived -seed 3 \
//	    -point 'write frontier/journal-* journal.(*File).append #17' -variant torn
//	go test ./bench/crash -run TestImage -image build/crash/seed3-0123456789abcdef.image
package crash
