;; A component of the world `guest` that also imports WASI; in a delivery it runs what stands in the
;; hole, and answers `unknown`, or traps where something is not as it should be.
(component
  (import "process-once:alerts/types@0.1.0" (instance $types
    (type $alert (record
      (field "source-event-id" string) (field "device-id" string) (field "message" string)))
    (export "alert" (type (eq $alert)))
    (type $outcome (enum "unknown" "applied" "already-applied"))
    (export "outcome" (type (eq $outcome)))))
  (alias export $types "alert" (type $alert))
  (alias export $types "outcome" (type $outcome))
  (import "process-once:alerts/store@0.1.0" (instance $store
    (export "error" (type $error (sub resource)))))
  (alias export $store "error" (type $error))
  (import "wasi:cli/exit@0.2.3" (instance $exit
    (export "exit" (func (param "status" (result))))))
  (import "wasi:clocks/monotonic-clock@0.2.3" (instance $clock
    (export "now" (func (result u64)))))
  (import "wasi:random/random@0.2.3" (instance $random
    (export "get-random-u64" (func (result u64)))
    (export "get-random-bytes" (func (param "len" u64) (result (list u8))))))
  (import "wasi:sockets/tcp-create-socket@0.2.3" (instance $sockets
    (type $family (enum "ipv4" "ipv6"))
    (export "ip-address-family" (type $ip-address-family (eq $family)))
    (type $code (enum "unknown" "access-denied" "not-supported"))
    (export "error-code" (type $error-code (eq $code)))
    (export "tcp-socket" (type $socket (sub resource)))
    (export "create-tcp-socket" (func (param "address-family" $ip-address-family)
      (result (result (own $socket) (error $error-code)))))))
  (import "wasi:cli/stderr@0.2.3" (instance $stderr
    (export "output-stream" (type $stream (sub resource)))
    (export "get-stderr" (func (result (own $stream))))))
  (core module $memory (memory (export "memory") 1)
    (func (export "realloc") (param i32 i32 i32 i32) (result i32) i32.const 1024))
  (core instance $memory (instantiate $memory))
  (core func $exit (canon lower (func $exit "exit")))
  (core func $now (canon lower (func $clock "now")))
  (core func $random (canon lower (func $random "get-random-u64")))
  (core func $bytes (canon lower (func $random "get-random-bytes")
    (memory (core memory $memory "memory")) (realloc (core func $memory "realloc"))))
  (core func $socket (canon lower (func $sockets "create-tcp-socket")
    (memory (core memory $memory "memory"))))
  (core func $get-stderr (canon lower (func $stderr "get-stderr")))
  (core module $module
    (import "memory" "memory" (memory 1))
    (import "wasi" "exit" (func $exit (param i32)))
    (import "wasi" "now" (func $now (result i64)))
    (import "wasi" "random" (func $random (result i64)))
    (import "wasi" "bytes" (func $bytes (param i64 i32)))
    (import "wasi" "socket" (func $socket (param i32 i32)))
    (import "wasi" "get-stderr" (func $get-stderr (result i32)))
    (func (export "process-once")
      (param i32 i32 i32 i32 i32 i32 i32 i32) (result i32)
      (;BODY;)
      i32.const 32))
  (core instance $module (instantiate $module
    (with "memory" (instance $memory))
    (with "wasi" (instance
      (export "exit" (func $exit))
      (export "now" (func $now))
      (export "random" (func $random))
      (export "bytes" (func $bytes))
      (export "socket" (func $socket))
      (export "get-stderr" (func $get-stderr))))))
  (type $process-once (func (param "event-id" string) (param "alert" $alert)
    (result (result $outcome (error (own $error))))))
  (func $process-once (type $process-once)
    (canon lift (core func $module "process-once")
      (memory (core memory $memory "memory")) (realloc (core func $memory "realloc"))))
  (instance $processor
    (export "process-once" (func $process-once)))
  (export "process-once:alerts/processor@0.1.0" (instance $processor)))
