;; A component of the world `guest`, with holes for what it does in start-up and in a delivery.
;; The result of process-once stands at 32: a tag (0 ok, 1 err), then the outcome or the error.
;; That of begin goes to 64: a tag, then the tx or the error.
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
    (export "error" (type $error (sub resource)))
    (export "tx" (type $tx (sub resource)))
    (export "begin" (func (result (result (own $tx) (error (own $error))))))
    (export "[method]tx.rollback" (func (param "self" (borrow $tx))))))
  (alias export $store "error" (type $error))
  (alias export $store "tx" (type $tx))
  (core module $memory (memory (export "memory") 1))
  (core instance $memory (instantiate $memory))
  (core func $begin
    (canon lower (func $store "begin") (memory (core memory $memory "memory"))))
  (core func $rollback
    (canon lower (func $store "[method]tx.rollback")))
  (core func $drop-tx (canon resource.drop $tx))
  (core module $module
    (import "memory" "memory" (memory 1))
    (import "store" "begin" (func $begin (param i32)))
    (import "store" "rollback" (func $rollback (param i32)))
    (import "store" "drop-tx" (func $drop-tx (param i32)))
    (global $free (mut i32) (i32.const 1024))
    (func (export "realloc") (param i32 i32 i32 i32) (result i32)
      global.get $free
      (global.set $free (i32.add (global.get $free) (i32.add (local.get 3) (i32.const 8)))))
    (func $start (;START;))
    (start $start)
    (func (export "process-once")
      (param i32 i32 i32 i32 i32 i32 i32 i32) (result i32)
      (;BODY;)
      i32.const 32))
  (core instance $module (instantiate $module
    (with "memory" (instance $memory))
    (with "store" (instance
      (export "begin" (func $begin))
      (export "rollback" (func $rollback))
      (export "drop-tx" (func $drop-tx))))))
  (type $process-once (func (param "event-id" string) (param "alert" $alert)
    (result (result $outcome (error (own $error))))))
  (func $process-once (type $process-once)
    (canon lift (core func $module "process-once")
      (memory (core memory $memory "memory")) (realloc (core func $module "realloc"))))
  (instance $processor
    (export "process-once" (func $process-once)))
  (export "process-once:alerts/processor@0.1.0" (instance $processor)))
