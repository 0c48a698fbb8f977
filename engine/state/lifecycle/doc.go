// Package lifecycle names the states of a crawl as report.json and the progress line show them.
//
// # The part clock
//
// This part measures a crawl that is interrupted by stops and kills. Resumed carries times from the run that wrote
// a checkpoint to the run that resumes it. RunTime adds up the time, CPU and memory of all runs. SetWatch notices that
// the wall clock was set while the crawl runs.
//
// The wall clock may have been set between two runs, in either direction and by any amount. So a clock that jumps costs
// at most one delay of each site, and one fetch of robots.txt and one DNS question for its address.
//
// The engine calls it at open, the checkpoint writes its readings to the manifest, and the replay of the journal
// restores due times and the age of robots.txt by it.
package lifecycle
