/*
 * clr/metadata.h - IMetaDataImport, IMetaDataImport2 and IMetaDataAssemblyImport: names and
 * signatures.
 *
 * Source: cor.h of dotnet/runtime, facts only. Holds no state.
 *
 * Enumerations start with *enumerator NULL and end with close_enum, also after a failure.
 * get_event_props and get_property_props write the name though cor.h declares it LPCWSTR.
 */
#ifndef SHADOWTRACE_CLR_METADATA_H
#define SHADOWTRACE_CLR_METADATA_H

#include <shadowtrace/clr/structs.h>
#include <shadowtrace/clr/types.h>
#include <shadowtrace/clr/unknown.h>

struct clr_metadata;

/* The whole vtable of IMetaDataImport2; IMetaDataImport is slots 0 to 64. */
struct clr_metadata_vtbl {
    CLR_UNKNOWN_SLOTS(clr_metadata);

    /* IMetaDataImport: slots 3 to 64 */
    void (*close_enum)(struct clr_metadata *self, void *enumerator);
    hresult (*count_enum)(struct clr_metadata *self, void *enumerator, uint32_t *count);
    hresult (*reset_enum)(struct clr_metadata *self, void *enumerator, uint32_t pos);
    hresult (*enum_type_defs)(struct clr_metadata *self, void **enumerator, uint32_t *type_defs,
                              uint32_t max, uint32_t *count);
    hresult (*enum_interface_impls)(struct clr_metadata *self, void **enumerator, uint32_t type_def,
                                    uint32_t *impls, uint32_t max, uint32_t *count);
    hresult (*enum_type_refs)(struct clr_metadata *self, void **enumerator, uint32_t *type_refs,
                              uint32_t max, uint32_t *count);
    hresult (*find_type_def_by_name)(struct clr_metadata *self, const clr_wchar *name,
                                     uint32_t enclosing_class, uint32_t *type_def);
    hresult (*get_scope_props)(struct clr_metadata *self, clr_wchar *name, uint32_t name_max,
                               uint32_t *name_length, struct clr_guid *mvid);
    hresult (*get_module_from_scope)(struct clr_metadata *self, uint32_t *module);
    hresult (*get_type_def_props)(struct clr_metadata *self, uint32_t type_def, clr_wchar *name,
                                  uint32_t name_max, uint32_t *name_length, uint32_t *flags,
                                  uint32_t *extends);
    hresult (*get_interface_impl_props)(struct clr_metadata *self, uint32_t interface_impl,
                                        uint32_t *owner, uint32_t *iface);
    hresult (*get_type_ref_props)(struct clr_metadata *self, uint32_t type_ref,
                                  uint32_t *resolution_scope, clr_wchar *name, uint32_t name_max,
                                  uint32_t *name_length);
    hresult (*resolve_type_ref)(struct clr_metadata *self, uint32_t type_ref,
                                const struct clr_guid *riid, struct clr_unknown **scope,
                                uint32_t *type_def);
    hresult (*enum_members)(struct clr_metadata *self, void **enumerator, uint32_t type_def,
                            uint32_t *members, uint32_t max, uint32_t *count);
    hresult (*enum_members_with_name)(struct clr_metadata *self, void **enumerator,
                                      uint32_t type_def, const clr_wchar *name, uint32_t *members,
                                      uint32_t max, uint32_t *count);
    hresult (*enum_methods)(struct clr_metadata *self, void **enumerator, uint32_t type_def,
                            uint32_t *methods, uint32_t max, uint32_t *count);
    hresult (*enum_methods_with_name)(struct clr_metadata *self, void **enumerator,
                                      uint32_t type_def, const clr_wchar *name, uint32_t *methods,
                                      uint32_t max, uint32_t *count);
    hresult (*enum_fields)(struct clr_metadata *self, void **enumerator, uint32_t type_def,
                           uint32_t *fields, uint32_t max, uint32_t *count);
    hresult (*enum_fields_with_name)(struct clr_metadata *self, void **enumerator,
                                     uint32_t type_def, const clr_wchar *name, uint32_t *fields,
                                     uint32_t max, uint32_t *count);
    hresult (*enum_params)(struct clr_metadata *self, void **enumerator, uint32_t member,
                           uint32_t *params, uint32_t max, uint32_t *count);
    hresult (*enum_member_refs)(struct clr_metadata *self, void **enumerator, uint32_t parent,
                                uint32_t *member_refs, uint32_t max, uint32_t *count);
    hresult (*enum_method_impls)(struct clr_metadata *self, void **enumerator, uint32_t type_def,
                                 uint32_t *method_body, uint32_t *method_decl, uint32_t max,
                                 uint32_t *count);
    hresult (*enum_permission_sets)(struct clr_metadata *self, void **enumerator, uint32_t token,
                                    uint32_t actions, uint32_t *permission, uint32_t max,
                                    uint32_t *count);
    hresult (*find_member)(struct clr_metadata *self, uint32_t type_def, const clr_wchar *name,
                           const uint8_t *signature, uint32_t signature_size, uint32_t *member);
    hresult (*find_method)(struct clr_metadata *self, uint32_t type_def, const clr_wchar *name,
                           const uint8_t *signature, uint32_t signature_size, uint32_t *member);
    hresult (*find_field)(struct clr_metadata *self, uint32_t type_def, const clr_wchar *name,
                          const uint8_t *signature, uint32_t signature_size, uint32_t *member);
    hresult (*find_member_ref)(struct clr_metadata *self, uint32_t type_def, const clr_wchar *name,
                               const uint8_t *signature, uint32_t signature_size,
                               uint32_t *member_ref);
    hresult (*get_method_props)(struct clr_metadata *self, uint32_t member, uint32_t *owner,
                                clr_wchar *name, uint32_t name_max, uint32_t *name_length,
                                uint32_t *attr, const uint8_t **signature, uint32_t *signature_size,
                                uint32_t *code_rva, uint32_t *impl_flags);
    hresult (*get_member_ref_props)(struct clr_metadata *self, uint32_t member_ref, uint32_t *token,
                                    clr_wchar *name, uint32_t name_max, uint32_t *name_length,
                                    const uint8_t **signature, uint32_t *signature_size);
    hresult (*enum_properties)(struct clr_metadata *self, void **enumerator, uint32_t type_def,
                               uint32_t *properties, uint32_t max, uint32_t *count);
    hresult (*enum_events)(struct clr_metadata *self, void **enumerator, uint32_t type_def,
                           uint32_t *events, uint32_t max, uint32_t *count);
    hresult (*get_event_props)(struct clr_metadata *self, uint32_t event_token, uint32_t *owner,
                               clr_wchar *name, uint32_t name_max, uint32_t *name_length,
                               uint32_t *event_flags, uint32_t *event_type, uint32_t *add_on,
                               uint32_t *remove_on, uint32_t *fire, uint32_t *other_methods,
                               uint32_t max, uint32_t *other_method_count);
    hresult (*enum_method_semantics)(struct clr_metadata *self, void **enumerator, uint32_t member,
                                     uint32_t *event_prop, uint32_t max, uint32_t *count);
    hresult (*get_method_semantics)(struct clr_metadata *self, uint32_t member, uint32_t event_prop,
                                    uint32_t *semantics_flags);
    hresult (*get_class_layout)(struct clr_metadata *self, uint32_t type_def, uint32_t *pack_size,
                                struct clr_field_offset *field_offset, uint32_t max,
                                uint32_t *field_offset_count, uint32_t *class_size);
    hresult (*get_field_marshal)(struct clr_metadata *self, uint32_t token,
                                 const uint8_t **native_type, uint32_t *native_type_size);
    hresult (*get_rva)(struct clr_metadata *self, uint32_t token, uint32_t *code_rva,
                       uint32_t *impl_flags);
    hresult (*get_permission_set_props)(struct clr_metadata *self, uint32_t permission,
                                        uint32_t *action, const void **blob, uint32_t *blob_size);
    hresult (*get_sig_from_token)(struct clr_metadata *self, uint32_t token,
                                  const uint8_t **signature, uint32_t *signature_size);
    hresult (*get_module_ref_props)(struct clr_metadata *self, uint32_t module_ref, clr_wchar *name,
                                    uint32_t name_max, uint32_t *name_length);
    hresult (*enum_module_refs)(struct clr_metadata *self, void **enumerator, uint32_t *module_refs,
                                uint32_t max, uint32_t *count);
    hresult (*get_type_spec_from_token)(struct clr_metadata *self, uint32_t type_spec,
                                        const uint8_t **signature, uint32_t *signature_size);
    hresult (*get_name_from_token)(struct clr_metadata *self, uint32_t token, const char **name);
    hresult (*enum_unresolved_methods)(struct clr_metadata *self, void **enumerator,
                                       uint32_t *methods, uint32_t max, uint32_t *count);
    hresult (*get_user_string)(struct clr_metadata *self, uint32_t string_token, clr_wchar *string,
                               uint32_t string_max, uint32_t *string_length);
    hresult (*get_pinvoke_map)(struct clr_metadata *self, uint32_t token, uint32_t *mapping_flags,
                               clr_wchar *import_name, uint32_t import_name_max,
                               uint32_t *import_name_length, uint32_t *import_dll);
    hresult (*enum_signatures)(struct clr_metadata *self, void **enumerator, uint32_t *signatures,
                               uint32_t max, uint32_t *count);
    hresult (*enum_type_specs)(struct clr_metadata *self, void **enumerator, uint32_t *type_specs,
                               uint32_t max, uint32_t *count);
    hresult (*enum_user_strings)(struct clr_metadata *self, void **enumerator, uint32_t *strings,
                                 uint32_t max, uint32_t *count);
    hresult (*get_param_for_method_index)(struct clr_metadata *self, uint32_t method_def,
                                          uint32_t sequence, uint32_t *param_def);
    hresult (*enum_custom_attributes)(struct clr_metadata *self, void **enumerator, uint32_t token,
                                      uint32_t type, uint32_t *custom_attributes, uint32_t max,
                                      uint32_t *count);
    hresult (*get_custom_attribute_props)(struct clr_metadata *self, uint32_t custom_attribute,
                                          uint32_t *parent, uint32_t *type, const void **blob,
                                          uint32_t *size);
    hresult (*find_type_ref)(struct clr_metadata *self, uint32_t resolution_scope,
                             const clr_wchar *name, uint32_t *type_ref);
    hresult (*get_member_props)(struct clr_metadata *self, uint32_t member, uint32_t *owner,
                                clr_wchar *name, uint32_t name_max, uint32_t *name_length,
                                uint32_t *attr, const uint8_t **signature, uint32_t *signature_size,
                                uint32_t *code_rva, uint32_t *impl_flags, uint32_t *element_type,
                                const void **value, uint32_t *value_length);
    hresult (*get_field_props)(struct clr_metadata *self, uint32_t member, uint32_t *owner,
                               clr_wchar *name, uint32_t name_max, uint32_t *name_length,
                               uint32_t *attr, const uint8_t **signature, uint32_t *signature_size,
                               uint32_t *element_type, const void **value, uint32_t *value_length);
    hresult (*get_property_props)(struct clr_metadata *self, uint32_t property, uint32_t *owner,
                                  clr_wchar *name, uint32_t name_max, uint32_t *name_length,
                                  uint32_t *prop_flags, const uint8_t **signature,
                                  uint32_t *signature_size, uint32_t *element_type,
                                  const void **default_value, uint32_t *default_value_length,
                                  uint32_t *setter, uint32_t *getter, uint32_t *other_methods,
                                  uint32_t max, uint32_t *other_method_count);
    hresult (*get_param_props)(struct clr_metadata *self, uint32_t token, uint32_t *method_def,
                               uint32_t *sequence, clr_wchar *name, uint32_t name_max,
                               uint32_t *name_length, uint32_t *attr, uint32_t *element_type,
                               const void **value, uint32_t *value_length);
    hresult (*get_custom_attribute_by_name)(struct clr_metadata *self, uint32_t parent,
                                            const clr_wchar *name, const void **data,
                                            uint32_t *data_size);
    int32_t (*is_valid_token)(struct clr_metadata *self, uint32_t token);
    hresult (*get_nested_class_props)(struct clr_metadata *self, uint32_t nested_class,
                                      uint32_t *enclosing_class);
    hresult (*get_native_call_conv_from_sig)(struct clr_metadata *self, const void *signature,
                                             uint32_t signature_size, uint32_t *call_conv);
    hresult (*is_global)(struct clr_metadata *self, uint32_t token, int32_t *global);

    /* IMetaDataImport2: slots 65 to 72 */
    hresult (*enum_generic_params)(struct clr_metadata *self, void **enumerator, uint32_t token,
                                   uint32_t *generic_params, uint32_t max, uint32_t *count);
    hresult (*get_generic_param_props)(struct clr_metadata *self, uint32_t generic_param,
                                       uint32_t *sequence, uint32_t *param_flags, uint32_t *owner,
                                       uint32_t *reserved, clr_wchar *name, uint32_t name_max,
                                       uint32_t *name_length);
    hresult (*get_method_spec_props)(struct clr_metadata *self, uint32_t method_spec,
                                     uint32_t *parent, const uint8_t **signature,
                                     uint32_t *signature_size);
    hresult (*enum_generic_param_constraints)(struct clr_metadata *self, void **enumerator,
                                              uint32_t token, uint32_t *generic_param_constraints,
                                              uint32_t max, uint32_t *count);
    hresult (*get_generic_param_constraint_props)(struct clr_metadata *self,
                                                  uint32_t generic_param_constraint,
                                                  uint32_t *generic_param,
                                                  uint32_t *constraint_type);
    hresult (*get_pe_kind)(struct clr_metadata *self, uint32_t *pe_kind, uint32_t *machine);
    hresult (*get_version_string)(struct clr_metadata *self, clr_wchar *buffer, uint32_t buffer_max,
                                  uint32_t *buffer_length);
    hresult (*enum_method_specs)(struct clr_metadata *self, void **enumerator, uint32_t token,
                                 uint32_t *method_specs, uint32_t max, uint32_t *count);
};

struct clr_metadata {
    const struct clr_metadata_vtbl *vtbl;
};

struct clr_metadata_assembly;

/* IMetaDataAssemblyImport: the manifest, through query_interface on struct clr_metadata. */
struct clr_metadata_assembly_vtbl {
    CLR_UNKNOWN_SLOTS(clr_metadata_assembly);

    /* IMetaDataAssemblyImport: slots 3 to 16 */
    hresult (*get_assembly_props)(struct clr_metadata_assembly *self, uint32_t assembly,
                                  const void **public_key, uint32_t *public_key_size,
                                  uint32_t *hash_alg_id, clr_wchar *name, uint32_t name_max,
                                  uint32_t *name_length, struct clr_assembly_metadata *metadata,
                                  uint32_t *assembly_flags);
    hresult (*get_assembly_ref_props)(struct clr_metadata_assembly *self, uint32_t assembly_ref,
                                      const void **public_key_or_token,
                                      uint32_t *public_key_or_token_size, clr_wchar *name,
                                      uint32_t name_max, uint32_t *name_length,
                                      struct clr_assembly_metadata *metadata,
                                      const void **hash_value, uint32_t *hash_value_size,
                                      uint32_t *assembly_ref_flags);
    hresult (*get_file_props)(struct clr_metadata_assembly *self, uint32_t file, clr_wchar *name,
                              uint32_t name_max, uint32_t *name_length, const void **hash_value,
                              uint32_t *hash_value_size, uint32_t *flags);
    hresult (*get_exported_type_props)(struct clr_metadata_assembly *self, uint32_t exported_type,
                                       clr_wchar *name, uint32_t name_max, uint32_t *name_length,
                                       uint32_t *implementation, uint32_t *type_def,
                                       uint32_t *exported_type_flags);
    hresult (*get_manifest_resource_props)(struct clr_metadata_assembly *self,
                                           uint32_t manifest_resource, clr_wchar *name,
                                           uint32_t name_max, uint32_t *name_length,
                                           uint32_t *implementation, uint32_t *offset,
                                           uint32_t *resource_flags);
    hresult (*enum_assembly_refs)(struct clr_metadata_assembly *self, void **enumerator,
                                  uint32_t *assembly_refs, uint32_t max, uint32_t *count);
    hresult (*enum_files)(struct clr_metadata_assembly *self, void **enumerator, uint32_t *files,
                          uint32_t max, uint32_t *count);
    hresult (*enum_exported_types)(struct clr_metadata_assembly *self, void **enumerator,
                                   uint32_t *exported_types, uint32_t max, uint32_t *count);
    hresult (*enum_manifest_resources)(struct clr_metadata_assembly *self, void **enumerator,
                                       uint32_t *manifest_resources, uint32_t max, uint32_t *count);
    hresult (*get_assembly_from_scope)(struct clr_metadata_assembly *self, uint32_t *assembly);
    hresult (*find_exported_type_by_name)(struct clr_metadata_assembly *self, const clr_wchar *name,
                                          uint32_t enclosing_type, uint32_t *exported_type);
    hresult (*find_manifest_resource_by_name)(struct clr_metadata_assembly *self,
                                              const clr_wchar *name, uint32_t *manifest_resource);
    void (*close_enum)(struct clr_metadata_assembly *self, void *enumerator);
    hresult (*find_assemblies_by_name)(struct clr_metadata_assembly *self,
                                       const clr_wchar *app_base, const clr_wchar *private_bin,
                                       const clr_wchar *assembly_name,
                                       struct clr_unknown **assemblies, uint32_t max,
                                       uint32_t *count);
};

struct clr_metadata_assembly {
    const struct clr_metadata_assembly_vtbl *vtbl;
};

#endif
