// Command protogen compiles .proto files to Go: messages by protoc-gen-go, services by protoc-gen-go-grpc. It takes the
// root of the module and the files below it, as import paths. The code goes beside each file. Compiler and generators
// are pinned in go.mod, so no protoc is needed.
//
//	go -C tools/protogen run . ../.. engine/peering/transport/transportpb/transport.proto
package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: protogen ROOT FILE.proto...")
		os.Exit(2)
	}
	if err := generate(context.Background(), os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "protogen:", err)
		os.Exit(1)
	}
}

// generate writes the code for some files below root.
func generate(ctx context.Context, root string, files []string) error {
	compiler := protocompile.Compiler{
		Resolver:       protocompile.WithStandardImports(&protocompile.SourceResolver{ImportPaths: []string{root}}),
		SourceInfoMode: protocompile.SourceInfoStandard, // comments go into the code
	}
	linked, err := compiler.Compile(ctx, files...)
	if err != nil {
		return err
	}
	request := &pluginpb.CodeGeneratorRequest{FileToGenerate: files, Parameter: proto.String("paths=source_relative")}
	added := make(map[string]bool)
	for _, file := range linked {
		request.ProtoFile = appendWithImports(request.ProtoFile, file, added)
	}
	for _, plugin := range []string{"protoc-gen-go", "protoc-gen-go-grpc"} {
		if err := runPlugin(ctx, root, plugin, request); err != nil {
			return fmt.Errorf("%s: %w", plugin, err)
		}
	}
	return nil
}

// appendWithImports appends a file behind the files that it imports, as plugins demand.
func appendWithImports(
	all []*descriptorpb.FileDescriptorProto, file protoreflect.FileDescriptor, added map[string]bool,
) []*descriptorpb.FileDescriptorProto {
	if added[file.Path()] {
		return all
	}
	added[file.Path()] = true
	for i := range file.Imports().Len() {
		all = appendWithImports(all, file.Imports().Get(i).FileDescriptor, added)
	}
	return append(all, protodesc.ToFileDescriptorProto(file))
}

// runPlugin gives a request to a plugin, which is a tool of go.mod, and writes the files that it answers.
func runPlugin(ctx context.Context, root, plugin string, request *pluginpb.CodeGeneratorRequest) error {
	input, err := proto.Marshal(request)
	if err != nil {
		return err
	}
	command := exec.CommandContext(ctx, "go", "tool", plugin)
	command.Stdin, command.Stderr = bytes.NewReader(input), os.Stderr
	output, err := command.Output()
	if err != nil {
		return err
	}
	var response pluginpb.CodeGeneratorResponse
	if err := proto.Unmarshal(output, &response); err != nil {
		return err
	}
	if response.Error != nil {
		return fmt.Errorf("%s", response.GetError())
	}
	for _, file := range response.GetFile() {
		if err := os.WriteFile(filepath.Join(root, file.GetName()), []byte(file.GetContent()), 0o644); err != nil {
			return err
		}
	}
	return nil
}
