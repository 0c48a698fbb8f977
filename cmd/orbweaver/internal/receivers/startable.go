package receivers

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"runtime"
	"strings"
)

// checkProgram reports why a program cannot be started. It does not start it.
func checkProgram(name string) error {
	file, err := exec.LookPath(name)
	if err != nil {
		return fmt.Errorf("%w: give a program that exists and is executable", err)
	}
	f, err := os.Open(file)
	if err != nil {
		return nil //nolint:nilerr // who may start a program need not be able to read it
	}
	defer f.Close()
	begin, err := io.ReadAll(io.LimitReader(f, beginRead))
	line, isScript := bytes.CutPrefix(begin, []byte("#!"))
	switch {
	case err != nil:
	case isScript:
		line, _, _ = bytes.Cut(line, []byte{'\n'})
		err = checkInterpreter(strings.Trim(string(line), " \t"))
	case bytes.HasPrefix(begin, []byte("\x7fELF")):
		err = checkLoader(begin)
	case runtime.GOOS != "windows" && bytes.IndexByte(begin, 0) < 0:
		err = errors.New("it is neither a binary nor a script: begin a script with a line such as #!/bin/sh")
	}
	if err != nil {
		return fmt.Errorf("%s cannot be started: %w", file, err)
	}
	return nil
}

// beginRead is how many bytes of a program are looked at.
const beginRead = 4096

// checkInterpreter reports if the interpreter of a script is missing. line is what follows #!: a file, and at most one
// argument.
func checkInterpreter(line string) error {
	file, argument := line, ""
	if at := strings.IndexAny(line, " \t"); at >= 0 {
		file, argument = line[:at], strings.Trim(line[at:], " \t")
	}
	if err := checkExecutable("interpreter", file); err != nil || path.Base(file) != "env" {
		return err
	}
	if words, isSplit := strings.CutPrefix(argument, "-S"); isSplit {
		argument, _, _ = strings.Cut(strings.TrimSpace(words), " ")
	}
	if argument == "" || strings.HasPrefix(argument, "-") || strings.Contains(argument, "=") {
		return nil // env has more to say than which program it is
	}
	if _, err := exec.LookPath(argument); err != nil {
		return fmt.Errorf("its interpreter %q is not found", argument)
	}
	return nil
}

// checkLoader reports if a binary of ELF, given by its begin, needs a dynamic loader that is missing. One of a system
// with another C library does. Of other forms than 64 bits, little-endian, nothing is known.
func checkLoader(begin []byte) error {
	const (
		head, entry      = 64, 56 // bytes
		isLittle64       = "\x02\x01"
		interpreterEntry = 3
	)
	number := binary.LittleEndian
	if len(begin) < head || string(begin[4:6]) != isLittle64 {
		return nil
	}
	table := begin[min(number.Uint64(begin[32:]), uint64(len(begin))):]
	for range number.Uint16(begin[56:]) {
		if len(table) < entry {
			break
		}
		if number.Uint32(table) == interpreterEntry {
			name := begin[min(number.Uint64(table[8:]), uint64(len(begin))):]
			if file, _, isWhole := bytes.Cut(name, []byte{0}); isWhole {
				return checkExecutable("loader", string(file))
			}
		}
		table = table[entry:]
	}
	return nil
}

// checkExecutable reports if what a program needs is missing or cannot be executed.
func checkExecutable(what, file string) error {
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return fmt.Errorf("its %s %q does not exist", what, file)
	case info.IsDir() || runtime.GOOS != "windows" && info.Mode().Perm()&0o111 == 0:
		return fmt.Errorf("its %s %q is not executable", what, file)
	}
	return nil
}
