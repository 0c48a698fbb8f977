// Package command is what all commands of the program share. An Invocation is one run of the program: its standard
// streams, its parsed command line, its exit status. Faults collects what an operator got wrong, so that all of it is
// reported at once.
//
// The flags of a command are the fields of its struct, by the tags that package internal/options describes. A value
// comes from the command line, else from a variable ORBWEAVER_NAME, else from the file of --config, else from the
// settings of an earlier run (Resumable), else from the tag default.
//
//	Invocation.Parse -> readings.Decode (options.Parse) for each value -> Invocation.Check -> ValueFaults
//	(options.CheckValue), Check of the command -> Run of the command -> Invocation.Exit
package command
